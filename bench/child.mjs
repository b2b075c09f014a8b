// Measures one case in a process that does nothing else: told where the bundle is, then what to measure.
const { runCase } = await import(process.argv[2] ?? '')
process.once('message', async (given) => {
  const [name, sizes, options] = Array.isArray(given) ? given : []
  process.send?.(await runCase(name, sizes, options))
  process.disconnect()
})
