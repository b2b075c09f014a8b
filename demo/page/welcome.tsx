const SUGGESTIONS = {
  model: [
    'Why is the sea salty?',
    'Show me a small debounce function in TypeScript',
    'A table of spring and neap tides, please',
    'What can I see at low water?',
  ],
  /** What the stand-in has something to say about. */
  standIn: [
    'What is a tidemark?',
    'What happens to an answer when I reload the page?',
    'Look into what happens when I am offline',
    'How do I connect a real model?',
  ],
}

/** An empty session: what this is, and somewhere to begin. */
export function Welcome({ standIn, ask }: { standIn: boolean; ask: (text: string) => void }) {
  return (
    <section className="welcome" aria-labelledby="welcome-title">
      <div className="waves" aria-hidden="true">
        <span className="wave" />
        <span className="wave" />
        <span className="wave" />
      </div>
      <h2 id="welcome-title">What shall we find out?</h2>
      <p>
        Everything you write is kept in this browser first, and carried on from there: through reloads, closed
        tabs and lost connections.
      </p>
      <ul>
        {SUGGESTIONS[standIn ? 'standIn' : 'model'].map((text) => (
          <li key={text}>
            <button type="button" className="suggestion" onClick={() => ask(text)}>
              {text}
            </button>
          </li>
        ))}
      </ul>
    </section>
  )
}
