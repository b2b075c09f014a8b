import { spreadOf } from '../measure.ts'

/** What was measured of one promise, several times. */
export interface Figure {
  row: string
  name: string
  /** What was counted: `ms`, `bytes a delta`. */
  unit: string
  samples: readonly number[]
  /** The bound, where there is one. */
  most?: number
  /** What is held against the bound: the middle of the samples, or the worst of them. */
  by: 'median' | 'worst'
}

export const worstOf = ({ samples }: Pick<Figure, 'samples'>): number => Math.max(...samples)

/** The figure that the bound is about; nothing measured is nothing held. */
export const measured = (figure: Figure): number =>
  figure.samples.length === 0
    ? Number.NaN
    : figure.by === 'worst'
      ? worstOf(figure)
      : spreadOf(figure.samples).median

/** Whether the bound is held; undefined where there is none. */
export const isWithin = (figure: Figure): boolean | undefined =>
  figure.most === undefined ? undefined : measured(figure) <= figure.most

/** A figure as its row measures it, before it knows whose it is. */
export type RowFigure = Omit<Figure, 'row'>

/** Promises that need a browser of their own, measured one after another. */
export interface LiveRow<Where> {
  name: string
  measure(where: Where): Promise<RowFigure[]>
}

/** What a row has measured; one that broke off has held nothing, and says why. The others go on. */
export async function measureRow<Where>({ name, measure }: LiveRow<Where>, where: Where): Promise<Figure[]> {
  try {
    return (await measure(where)).map((figure) => ({ ...figure, row: name }))
  } catch (thrown) {
    const [why = ''] = String(thrown).split('\n')
    return [{ row: name, name: `failed: ${why}`, unit: '', samples: [], most: 0, by: 'worst' }]
  }
}
