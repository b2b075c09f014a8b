import type { Message, ToolMessage } from '../message/schema.ts'
import type { CallCommand } from '../protocol/commands.ts'
import type { ChatEvent } from '../protocol/events.ts'
import { isWaiting } from './next.ts'
import { failure, rejection, settled, type ToolResult } from './result.ts'
import type { Tool } from './tool.ts'

/** What somebody's word makes of a call's message; undefined where it comes too late, or says nothing about such a call. */
export function decided(
  message: Message | undefined,
  command: CallCommand,
  tools: readonly Tool[] = [],
  now: number,
): ToolMessage | undefined {
  if (message?.role !== 'tool' || !isWaiting(message, now)) return undefined
  const { expiresAt: _, ...rest } = message
  switch (command.type) {
    case 'approve': {
      if (message.stage !== 'approval') return undefined
      const changed = command.arguments !== undefined && { arguments: command.arguments }
      return { ...rest, stage: 'approved', approved: true, ...changed, updatedAt: now }
    }
    case 'reject':
      return settled(message, rejection(command.reason), now)
    case 'askApproval': {
      if (message.stage !== 'client' || message.approved) return undefined
      const ends = command.timeout === undefined ? {} : { expiresAt: now + command.timeout }
      return { ...message, stage: 'approval', ...ends, updatedAt: now }
    }
    case 'toolResult':
      return message.stage === 'client' ? settled(message, resultOf(message, command, tools), now) : undefined
  }
}

function resultOf(
  { toolName }: ToolMessage,
  { data, error }: Extract<CallCommand, { type: 'toolResult' }>,
  tools: readonly Tool[],
): ToolResult {
  const tool = tools.find(({ spec }) => spec.name === toolName)
  return tool?.result({ data, error }) ?? failure('the tool is not there any more')
}

/** What tells of it. */
export const decisionEvent = (message: ToolMessage): ChatEvent =>
  message.status === 'pending' ? { type: 'message.updated', message } : { type: 'message.completed', message }
