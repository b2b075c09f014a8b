/** The plan of `<seed>`, or of `<seed>:<numbers of the actions that are kept>`. */
export function planFrom<P extends { actions: readonly unknown[] }>(
  text: string,
  planOf: (seed: number) => P,
): P {
  const [seed = '', kept] = text.split(':')
  const plan = planOf(Number(seed))
  if (kept === undefined) return plan
  const numbers = kept.split(',').map(Number)
  return { ...plan, actions: plan.actions.filter((_, at) => numbers.includes(at)) }
}
