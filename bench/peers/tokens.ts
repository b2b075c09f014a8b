import { estimateTokenCount } from 'tokenx'
import type { TokenPeer } from '../tokens.ts'

export const tokenPeers: readonly TokenPeer[] = [{ name: 'tokenx', count: estimateTokenCount }]
