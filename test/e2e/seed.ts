/** Puts a session of so many turns on the demo's server, each sent and answered in its order. */
export async function seedSession(url: string, id: string, turns: number): Promise<void> {
  const session = `${url}/api/sessions/${id}`
  const post = (address: string, body: object, headers: Record<string, string> = {}) =>
    fetch(address, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    }).then((response) => response.text())
  await post(`${url}/api/sessions`, { id, title: 'A long session' })
  for (let turn = 0; turn < turns; turn += 1) {
    const head = /"headId":"([\w-]+)"/.exec(await (await fetch(session)).text())
    const message = {
      id: `${id}-${turn}`,
      runId: `${id}-run-${turn}`,
      parentId: head?.[1] ?? null,
      content: [{ type: 'text', text: `Turn ${turn}.` }],
    }
    // Read to its end: the answer is whole then.
    await post(`${session}/messages`, message, { 'idempotency-key': message.id, accept: 'text/event-stream' })
  }
}
