import type { Env } from '../../lib/env.ts'
import type { Chance } from './chance.ts'

/** Whoever does things in a simulated world: a tab, a server. Begin one with `schedule.actor`. */
export interface Actor {
  readonly name: string
  /** What is frozen does nothing until it runs again; what is dead does nothing any more, and nobody hears why. */
  state: 'running' | 'frozen' | 'dead'
  /** Milliseconds by which its clock is wrong. */
  skew: number
  /** Milliseconds that its timers are rounded up to, as browsers do in hidden tabs. 0: not at all. */
  clamp: number
}

export interface Task {
  actor: Actor
  /** What it does, for traces. */
  label: string
  /** Milliseconds from now. @default 0 */
  delay?: number
  /** Tasks of one lane run in the order in which they were posted. */
  lane?: string
  run(): void | Promise<void>
}

interface Posted extends Task {
  due: number
  timer: boolean
}

/**
 * A virtual clock, and the order in which things happen. Whatever waits, waits as a task; of the tasks that are due, chance
 * picks the next. Time passes only when nothing is due.
 */
export interface Schedule {
  readonly chance: Chance
  /** Milliseconds since the epoch. */
  now(): number
  /** Tasks that have run so far. */
  steps(): number
  actor(name: string): Actor
  /** Adds a task; the returned function takes it back. */
  post(task: Task): () => void
  /**
   * Runs one task and all that follows from it without waiting. Resolves with what it did; undefined where nothing is due
   * up to `until`, with the clock set to that.
   */
  step(until?: number): Promise<string | undefined>
  /** Lets time pass without anybody acting: a machine that sleeps. */
  jump(ms: number): void
  /** Ends an actor where it stands: nothing of what it waited for comes. */
  kill(actor: Actor): void
  /** How many tasks of an actor wait, and how many of them are timers. */
  waiting(actor: Actor): { tasks: number; timers: number }
  /** Time and chance for code under test. Its ids are the actor's name with a number. */
  env(actor: Actor): Env
}

/** Lets everything run that waits for nothing but its turn. */
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

const isFirstOfLane = (tasks: readonly Posted[], task: Posted): boolean =>
  task.lane === undefined || tasks.find(({ lane }) => lane === task.lane) === task

function sleepOf(post: (task: Task) => () => void, actor: Actor, clock: () => number): Env['sleep'] {
  return (ms, signal) =>
    new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason)
      const rounded = actor.clamp > 0 ? Math.ceil((clock() + ms) / actor.clamp) * actor.clamp - clock() : ms
      const onAbort = () => {
        cancel()
        reject(signal?.reason)
      }
      const run = () => {
        signal?.removeEventListener('abort', onAbort)
        resolve()
      }
      const cancel = post({ actor, label: 'timer', delay: rounded, run })
      signal?.addEventListener('abort', onAbort, { once: true })
    })
}

function envOf(schedule: Omit<Schedule, 'env'>, actor: Actor): Env {
  const own = schedule.chance.fork(actor.name)
  let ids = 0
  return {
    now: () => schedule.now() + actor.skew,
    random: own.next,
    createId: () => `${actor.name}-${++ids}`,
    sleep: sleepOf(schedule.post, actor, schedule.now),
  }
}

interface Clock {
  now: number
  steps: number
  tasks: Posted[]
}

function post(clock: Clock, task: Task): () => void {
  if (task.actor.state === 'dead') return () => {}
  const posted = { ...task, due: clock.now + Math.max(0, task.delay ?? 0), timer: task.label === 'timer' }
  clock.tasks.push(posted)
  return () => {
    clock.tasks = clock.tasks.filter((other) => other !== posted)
  }
}

/** One of those that are due next, taken out; time passes to where they are. */
function take(clock: Clock, chance: Chance, until: number): Posted | undefined {
  const { tasks } = clock
  const able = tasks.filter((task) => task.actor.state === 'running' && isFirstOfLane(tasks, task))
  let first = Number.POSITIVE_INFINITY
  for (const { due } of able) first = Math.min(first, due)
  if (first > until) return undefined
  clock.now = Math.max(clock.now, first)
  const task = chance.pick(able.filter(({ due }) => due <= clock.now))
  clock.tasks = tasks.filter((other) => other !== task)
  return task
}

/**
 * A schedule that repeats itself: the same chance and the same code give the same order.
 * @param now milliseconds since the epoch at the beginning
 */
export function createSchedule(chance: Chance, now = 1_700_000_000_000): Schedule {
  const clock: Clock = { now, steps: 0, tasks: [] }
  const schedule: Omit<Schedule, 'env'> = {
    chance,
    now: () => clock.now,
    steps: () => clock.steps,
    actor: (name) => ({ name, state: 'running', skew: 0, clamp: 0 }),
    post: (task) => post(clock, task),
    async step(until = Number.POSITIVE_INFINITY) {
      let task = take(clock, chance, until)
      if (!task) {
        // What was begun outside a step has not posted its tasks yet.
        await turn()
        task = take(clock, chance, until)
      }
      if (!task) {
        if (Number.isFinite(until)) clock.now = Math.max(clock.now, until)
        return undefined
      }
      clock.steps++
      await task.run()
      await turn()
      return `${task.actor.name} ${task.label}`
    },
    jump(ms) {
      clock.now += ms
    },
    kill(actor) {
      actor.state = 'dead'
      clock.tasks = clock.tasks.filter((task) => task.actor !== actor)
    },
    waiting(actor) {
      const own = clock.tasks.filter((task) => task.actor === actor)
      return { tasks: own.length, timers: own.filter(({ timer }) => timer).length }
    },
  }
  return { ...schedule, env: (actor) => envOf(schedule, actor) }
}
