export { useMessage, useSession, useStore } from './bindings/react.ts'
