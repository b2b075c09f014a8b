import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { App } from './app.tsx'
import { openChats } from './chats.ts'
import { loadConfig } from './config.ts'
import { createRouter } from './route.ts'
import './styles/index.css'

const root = document.getElementById('app')
if (!root) throw new Error('No #app in the page')

try {
  const config = await loadConfig()
  const chatFor = openChats(config)
  const router = createRouter((runtime) => chatFor(runtime).session().id)
  createRoot(root).render(
    <StrictMode>
      <App config={config} router={router} chatFor={chatFor} />
    </StrictMode>,
  )
} catch (thrown) {
  root.textContent = `The page could not start: ${thrown instanceof Error ? thrown.message : String(thrown)}`
  root.setAttribute('role', 'alert')
}
