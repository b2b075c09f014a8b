import { RUNTIMES, type RuntimeName } from './route.ts'
import { THEMES, useTheme } from './theme.ts'

interface ChoiceProps<T extends string> {
  legend: string
  name: string
  options: readonly T[]
  value: T
  choose: (value: T) => void
  show: (value: T) => { text: string; hint: string }
}

/** One of a few, side by side; real radio buttons underneath, so that arrow keys work as everywhere. */
function Choice<T extends string>({ legend, name, options, value, choose, show }: ChoiceProps<T>) {
  return (
    <fieldset className="choice">
      <legend>{legend}</legend>
      <div className="segments">
        {options.map((option) => {
          const { text, hint } = show(option)
          return (
            <label key={option} title={hint}>
              <input
                type="radio"
                name={name}
                value={option}
                checked={option === value}
                onChange={() => choose(option)}
              />
              <span>{text}</span>
            </label>
          )
        })}
      </div>
    </fieldset>
  )
}

const RUNTIME_HINTS: Readonly<Record<RuntimeName, string>> = {
  remote: 'The server runs the turn and keeps the history; this page mirrors it.',
  direct: 'This page runs the turn and owns the history; a thin proxy only adds the key.',
}

/** What the page can be told: who runs the turn, and how it looks. */
export function Settings({ runtime, goTo }: { runtime: RuntimeName; goTo: (runtime: RuntimeName) => void }) {
  const [theme, setTheme] = useTheme()
  return (
    <div className="settings">
      <Choice
        legend="Who runs the turn"
        name="runtime"
        options={RUNTIMES}
        value={runtime}
        choose={goTo}
        show={(option) => ({ text: option, hint: RUNTIME_HINTS[option] })}
      />
      <p className="faint">{RUNTIME_HINTS[runtime]}</p>
      <Choice
        legend="Appearance"
        name="theme"
        options={THEMES}
        value={theme}
        choose={setTheme}
        show={(option) => ({
          text: option,
          hint: option === 'auto' ? 'As the system says' : `Always ${option}`,
        })}
      />
    </div>
  )
}
