/** Something that the stand-in knows about: itself, and the page it answers in. */
export interface Topic {
  /** Words that ask for it. */
  about: RegExp
  title: string
  text: string
}

const FENCE = '```'

const tidemark: Topic = {
  about: /\btide ?mark/i,
  title: 'What a tidemark is',
  text: `On a beach, the **tidemark** is the line of seaweed and shells that the last high water left behind. Everything above it is dry and settled; everything below may still move.

A chat has such a line, too. It is the newest message for which two things are true:

1. the message itself is *settled*: completed, failed or interrupted, and no longer being written;
2. so is every message before it, and each of them has been acknowledged by whoever owns the conversation.

Why that matters shows after a pause. A page that has slept for an hour cannot know what it missed, but it knows its tidemark, so it asks for what lies above it and for nothing else.

| Where a message lies | What may still happen to it |
| --- | --- |
| at or below the line | an edit or a deletion, which comes with a higher revision |
| above it, settled | it waits for an older one that is not |
| above it, streaming | more text |
| above it, not yet sent | it waits in the outbox |

Reading it takes one line:

${FENCE}ts
const { tidemark, messages } = session.get()
const settled = messages.slice(0, messages.findIndex(({ id }) => id === tidemark) + 1)
${FENCE}

Nothing in this is ordered by a clock. The line moves by the numbers that the server gives, and those have no holes.`,
}

const offline: Topic = {
  about: /\b(off-?line|outbox|no network|aeroplane|airplane|connection lost)\b/i,
  title: 'What happens when you are offline',
  text: `You can go on writing. When you press *Send*, the message and a row in the **outbox** are written to IndexedDB in one transaction, and only then does the page say that it is saved. Whether there is a network plays no part in that.

Once the line is back, three things happen, always in this order:

1. one attempt at what waits in the outbox, oldest first;
2. catching up with what happened elsewhere meanwhile;
3. following the answers that are still being written.

The message's own id is its idempotency key. So it does not matter if the first attempt reached the server and only its answer got lost: the second attempt carries the same key, and the server attaches it to the run that is already there.

| Attempt | What the server does |
| --- | --- |
| first, with a new key | stores the message and starts a run |
| again, with the same key and text | shows the same run |
| again, with the same key and other text | refuses it as a conflict |

You can try it here, without pulling a cable:

- open the developer tools and choose *Offline* in the network panel;
- send me a question, and look at its state;
- go online again, and count the answers.

There will be exactly one.`,
}

const reload: Topic = {
  about: /\b(reload|refresh|resume|close the tab|crash|come back)\b/i,
  title: 'What happens when you reload in mid-answer',
  text: `Try it now, while this text is still coming in: **reload the page**. It will carry on where it was, with nothing missing and nothing said twice.

Two things make that possible.

### The server does not stop when you leave

Closing, hiding or reloading a page is not the same as pressing *Stop*. The run goes on without you, and each of its events gets a number: 1, 2, 3 and so on, without holes.

### The page writes down what it has seen

While an answer grows, only what is new is written: small pieces in a journal, some ten times a second, together with the number of the last event they contain. The growing message itself is not written again and again. On the way back the page

1. opens the stored part, which is there at once;
2. folds the journal into the message;
3. asks for the events after the number it wrote down.

${FENCE}http
GET /api/sessions/welcome/events
Last-Event-ID: 128.k3Fq
${FENCE}

If the server has restarted in the meantime and cannot prove that nothing was lost, it says so with a \`gap\`, and the page fetches what changed instead of guessing.

> The number and the text are stored in the same transaction. After a crash, something may be read twice, but nothing is ever skipped.

That is all there is to it, and it is the same whether the pause was a second or a week.`,
}

const stop: Topic = {
  about: /\b(stop|cancel|abort|interrupt)\b/i,
  title: 'How stopping works',
  text: `Press **Stop** whenever you have read enough. After that, nothing more of this answer is shown in this tab, not even what was already on its way.

What has been said stays. The message is kept as *interrupted*, with its text up to that point, and the next question can refer to it.

- **Online**, the server is told at once, and it hangs up on the model. If you look at the network panel, you will see that my connection ends.
- **Offline**, the wish is written down and sent later.
- **Too late**, because the answer was complete before the wish arrived: then the complete answer is shown, since that is the truth.

Leaving is something else. A page that is closed, hidden or put to sleep stops nothing; the answer is there when you come back.

In code, it is one call:

${FENCE}ts
await session.stop()
const last = session.get().messages.at(-1)
console.log(last?.status) // 'interrupted'
${FENCE}

To get another answer to the same question, use *Regenerate*. The old one is not overwritten; the two stand side by side as branches, and you can go back and forth between them.`,
}

const runtimes: Topic = {
  about: /\b(remote|direct|proxy|api key|which model|real model|connect (a|another) model)\b/i,
  title: 'Who answers, and how to change that',
  text: `At the moment I do: a stand-in that needs no key. I speak the Chat Completions format over real HTTP, so everything between you and me is what a real provider would see, too.

To put a real model in my place, stop the demo and set three variables:

${FENCE}sh
OPENAI_BASE_URL=http://localhost:11434/v1 \\
OPENAI_API_KEY=unused \\
OPENAI_MODEL=llama3.2 \\
npm start
${FENCE}

Any compatible server will do; the address above is where Ollama listens.

The switch in the page decides who runs a turn:

| | \`remote\` | \`direct\` |
| --- | --- | --- |
| owns the conversation | the server | this browser |
| calls the model | the server | the page, through the proxy |
| goes on while the page is closed | yes | no |
| needs a server of yours | yes | only the thin proxy |

In both cases **the key stays on the server**. The proxy takes requests for the paths and models it was told about, adds the key last, and passes the stream through as it comes.

Two more things are worth knowing:

1. both ways produce the same events and end in the same store, so the page cannot tell them apart;
2. a session keeps the runtime it began with.`,
}

export const topics: readonly Topic[] = [tidemark, offline, reload, stop, runtimes]
