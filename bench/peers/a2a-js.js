/**
 * The official SDK of A2A on express, for 1.0 and, by its layer for older clients, 0.3.
 */
import { randomUUID } from 'node:crypto'
import { AgentEvent, DefaultRequestHandler, InMemoryTaskStore } from '@a2a-js/sdk/server'
import { jsonRpcHandler, UserBuilder } from '@a2a-js/sdk/server/express'
import { Role, TaskState } from '@a2a-js/sdk'
import express from 'express'
import { agent, run } from '../author.js'
import { report } from '../child.js'

const card = {
  name: agent.name, description: agent.description, version: '1.0.0', documentationUrl: '', signatures: [],
  supportedInterfaces: ['1.0', '0.3'].map((protocolVersion) => (
    { url: 'http://127.0.0.1/a2a', protocolBinding: 'JSONRPC', tenant: '', protocolVersion }
  )),
  provider: undefined, securitySchemes: {}, securityRequirements: [],
  capabilities: { streaming: true, pushNotifications: false, extensions: [], extendedAgentCard: false },
  defaultInputModes: ['text'], defaultOutputModes: ['text'], skills: [],
}

const part = (text) => (
  { content: { $case: 'text', value: text }, metadata: undefined, filename: '', mediaType: '' }
)

/** Makes a task, and tells what the agent says piece by piece. */
const tasks = {
  async execute({ userMessage, taskId, contextId }, events) {
    const ids = { taskId, contextId }
    const status = (state) => ({ state, timestamp: new Date().toISOString(), message: undefined })
    events.publish(AgentEvent.task({
      id: taskId, contextId, status: status(TaskState.TASK_STATE_WORKING), artifacts: [],
      history: [userMessage], metadata: undefined,
    }))
    const said = run(userMessage.parts[0].content.value)
    const artifactId = randomUUID()
    let append = false
    const tell = (text, lastChunk) => {
      events.publish(AgentEvent.artifactUpdate({
        ...ids, append, lastChunk, metadata: undefined,
        artifact: {
          artifactId, name: '', description: '', parts: [part(text)], metadata: undefined, extensions: [],
        },
      }))
      append = true
    }
    if (typeof said === 'string') {
      tell(said, true)
    } else {
      for await (const piece of said) tell(piece, false)
      tell('', true)
    }
    events.publish(AgentEvent.statusUpdate({
      ...ids, status: status(TaskState.TASK_STATE_COMPLETED), metadata: undefined,
    }))
    events.finished()
  },
  async cancelTask() {},
}

/** Answers with a message. */
const messages = {
  async execute({ userMessage, contextId }, events) {
    events.publish(AgentEvent.message({
      role: Role.ROLE_AGENT, messageId: randomUUID(), parts: [part(run(userMessage.parts[0].content.value))],
      taskId: '', contextId, extensions: [], metadata: undefined, referenceTaskIds: [],
    }))
    events.finished()
  },
  async cancelTask() {},
}

function start(executor) {
  const requestHandler = new DefaultRequestHandler(card, new InMemoryTaskStore(), executor)
  const app = express()
  app.use('/a2a', jsonRpcHandler({
    requestHandler, userBuilder: UserBuilder.noAuthentication, legacyCompat: { enabled: true },
  }))
  return new Promise((resolve) => {
    const server = app.listen(0, '127.0.0.1', () => {
      server.keepAliveTimeout = 65_000
      resolve(server.address().port)
    })
  })
}

report({ open: await start(tasks), plain: await start(messages) })
