/** Wakes whoever waits for news. */
export interface Bell {
  ring(): void
  /** Resolves at the next ring from now on. */
  rung(): Promise<void>
}

export function createBell(): Bell {
  let ring = () => {}
  return {
    ring: () => ring(),
    rung: () =>
      new Promise((resolve) => {
        ring = resolve
      }),
  }
}
