/** The checks of MCP's options, its limits aside. */
import { isRecord } from '../../../kernel/define/content.ts'
import { mustBe, mustBeIcons, mustBeOptions } from '../../../kernel/define/validate.ts'
import { isRegistryName } from '../../../floors/hosts/mcp-registry.ts'
import type { Checks } from '../../../kernel/define/validate.ts'
import type { McpOptions } from './context.ts'

const isString = (value: unknown): boolean => typeof value === 'string'
const string = mustBe(isString, 'write a string')
const address = mustBe(isString, 'write an address')

const cacheChecks: Checks<NonNullable<McpOptions['cache']>> = {
  ttlMs: mustBe((value) => typeof value === 'number' && value >= 0, 'write milliseconds'),
  scope: mustBe((value) => value === 'public' || value === 'private', `write 'public' or 'private'`),
}

export const mcpChecks: Checks<McpOptions> = {
  sessions: mustBe((value) => ['optional', 'required', 'none'].some((one) => one === value),
    `write 'optional', 'required' or 'none'`),
  instructions: string, title: string, websiteUrl: address, icons: mustBeIcons,
  serverCard: mustBe(isRegistryName, `write a name in reverse-DNS form, as in 'com.example/shop'`),
  extensions: mustBe(isRecord, `write an object, as in { 'io.modelcontextprotocol/ui': {} }`),
  pageSize: mustBe((value) => Number.isSafeInteger(value) && Number(value) > 0,
    'write a whole number above zero'),
  cache: mustBeOptions(`write { ttlMs: 60_000, scope: 'public' }`, cacheChecks),
}
