/** Line drawings on a grid of 20. */
const PATHS = {
  menu: 'M3 6h14M3 10h14M3 14h9',
  eye: 'M2.5 10s2.8-5 7.5-5 7.5 5 7.5 5-2.8 5-7.5 5-7.5-5-7.5-5zM10 7.8a2.2 2.2 0 1 0 .01 0z',
  plus: 'M10 4v12M4 10h12',
  pencil: 'M4 16l.8-3.4L13.4 4l2.6 2.6-8.6 8.6L4 16zM11.8 5.6l2.6 2.6',
  trash: 'M4 6h12M8 6V4h4v2M5.5 6l.7 10h7.6l.7-10M8.5 9v4.5M11.5 9v4.5',
  copy: 'M7.5 7.5h8.5v8.5H7.5zM12.5 7.5V4H4v8.5h3.5',
  check: 'M4 10.5l4 4 8-9',
  again: 'M15.8 8A6.2 6.2 0 1 0 16.2 11M16.2 4v4.2H12',
  left: 'M12 5l-5 5 5 5',
  right: 'M8 5l5 5-5 5',
  down: 'M10 4v12M5 11l5 5 5-5',
  send: 'M10 16V4M5 9l5-5 5 5',
  card: 'M3.5 4.5h13v11h-13zM6 8h8M6 10.5h8M6 13h5',
  close: 'M5 5l10 10M15 5L5 15',
  auto: 'M10 3.5a6.5 6.5 0 1 0 0 13zM10 3.5a6.5 6.5 0 0 1 0 13',
  light:
    'M10 6.5a3.5 3.5 0 1 0 .01 0zM10 2v1.5M10 16.5V18M2 10h1.5M16.5 10H18M4.3 4.3l1.1 1.1M14.6 14.6l1.1 1.1M4.3 15.7l1.1-1.1M14.6 5.4l1.1-1.1',
  dark: 'M15.5 12.2A6.5 6.5 0 0 1 7.8 4.5a6.5 6.5 0 1 0 7.7 7.7z',
} as const

export type IconName = keyof typeof PATHS | 'stop'

/** Decoration: the button around it carries the name. */
export function Icon({ name }: { name: IconName }) {
  return (
    <svg className="icon" viewBox="0 0 20 20" aria-hidden="true" focusable="false">
      {name === 'stop' ? (
        <rect x="5" y="5" width="10" height="10" rx="1.5" fill="currentColor" />
      ) : (
        <path d={PATHS[name]} />
      )}
    </svg>
  )
}
