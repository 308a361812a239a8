/** Calls of tools as tasks, over MCP: as 2025-11-25 has them, and as the extension of 2026-07-28 does. */
import { Later } from '../../kernel/util/later.ts'
import { Quota } from '../../kernel/util/quota.ts'
import { kernelCopy } from '../../kernel/server/part.ts'
import { requirePartOptions } from '../../kernel/server/requirements.ts'
import { lateMethod, mcpExtensionsOf } from '../mcp/methods/extension.ts'
import { mayBecomeTask, TASKS, wantsTask } from './wanted-task.ts'
import type { Part } from '../../kernel/server/part.ts'
import type { ExtensionMethod, OpenExtension } from '../mcp/methods/extension.ts'
import type { Revision } from '../mcp/protocol/revisions.ts'
import type { McpContext } from '../mcp/request/context.ts'
import type { TaskMethod } from './mcp-task.ts'

const later = new Later(() => import('./task-methods.ts'))

/** It has no options. */
export function mcpTasks(options: Readonly<Record<string, never>> = {}): Part {
  requirePartOptions('mcpTasks', options, [], arguments)
  return {
    name: 'mcp-tasks',
    copy: kernelCopy,
    needs: ['mcp'],
    open(kernel) {
      mcpExtensionsOf(kernel).add('mcp-tasks', taskExtension)
      return {}
    },
  }
}

function taskExtension(mcp: McpContext): OpenExtension {
  const { limits, log, catalog } = mcp.service
  /** Requests that wait for the end of a task: each is a stream after a while. */
  const waiting = new Quota('requests that wait for tasks', limits.maxStreams)
  /** Whether there is a tool that may run as a task, or was: tasks outlive their tools. */
  let isOffered = false
  const note = (): void => { isOffered ||= mcp.tools.listed.some(({ task }) => task !== 'forbidden') }
  note()
  catalog.onChange(note)
  const method = (
    name: TaskMethod, ...forms: readonly Revision['tasks'][]
  ): ExtensionMethod => ({
    run: lateMethod(later, ({ runTaskMethod }) => runTaskMethod.bind(undefined, name, waiting)),
    isOffered: () => isOffered,
    isIn: ({ tasks }) => forms.includes(tasks),
  })
  const ofOne = { namedBy: 'taskId' }
  return {
    methods: {
      'tasks/get': { ...method('get', 'augmentation', 'extension'), ...ofOne },
      'tasks/result': method('result', 'augmentation'),
      'tasks/list': method('list', 'augmentation'),
      'tasks/update': { ...method('update', 'extension'), ...ofOne },
      'tasks/cancel': { ...method('cancel', 'augmentation', 'extension'), ...ofOne },
    },
    calls: {
      isIn: ({ tasks }) => tasks !== 'none',
      takes(request, tool) {
        const { tasks } = request.peer.revision
        return tasks === 'augmentation' ? wantsTask(request, tool, isOffered) : mayBecomeTask(request, tool)
      },
      run: (request, tool, args) => (
        later.use(({ generationOf }) => generationOf(request).run(request, tool, args))
      ),
    },
    tools: {
      shown: ({ task }) => task === 'forbidden' ? {} : { execution: { taskSupport: task } },
    },
    capabilities: () => (
      isOffered ? { tasks: { list: {}, cancel: {}, requests: { tools: { call: {} } } } } : {}
    ),
    settings: ({ tasks }) => isOffered && tasks === 'extension' ? { [TASKS]: {} } : {},
    follow: (request, { taskIds }) => (
      taskIds === undefined ? undefined : later.use(({ followTasks }) => followTasks(request, taskIds))
    ),
    async takeOver() {
      try {
        await later.load()
        later.loaded.takeOverTasks(mcp)
      } catch (cause) {
        log('error', 'Tasks of MCP cannot be taken over: a file of the package cannot be loaded', { cause })
      }
    },
  }
}
