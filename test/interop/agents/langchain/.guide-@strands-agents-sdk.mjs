import { Agent } from '@strands-agents/sdk'
import { OpenAIModel } from '@strands-agents/sdk/models/openai'
import { launch } from 'file:///tmp/l/f/dist/index.js'

const model = new OpenAIModel({ modelId: 'gpt-5-mini' })
await launch(new Agent({ name: 'Helper', model, printer: false }))
