#!/usr/bin/env node
/**
 * Starts the `triport` command. Where Node can keep what it compiles for the next start (since 22.8) it does,
 * and so the command is imported only after that.
 */
const module = process.getBuiltinModule('node:module')
if ('enableCompileCache' in module && typeof module.enableCompileCache === 'function') {
  module.enableCompileCache()
}
void import('./cli/command.ts').then(({ runCommand }) => runCommand(process.argv.slice(2)))

export {}
