/**
 * A host in a browser, of the official client and bridge: it shows the page of a tool with the result of each
 * call, and says its city and the page's text, or that it has failed.
 */
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import {
  AppBridge, getToolUiResourceUri, PostMessageTransport,
} from '@modelcontextprotocol/ext-apps/app-bridge'

globalThis.show = async (url, ...calls) => {
  const extensions = { 'io.modelcontextprotocol/ui': { mimeTypes: ['text/html;profile=mcp-app'] } }
  const client = new Client({ name: 'host', version: '1.0.0' }, {
    capabilities: { extensions }, versionNegotiation: { mode: 'auto' },
  })
  await client.connect(new StreamableHTTPClientTransport(new URL(url)))
  const { tools: [tool] } = await client.listTools()
  const { contents: [page] } = await client.readResource({ uri: getToolUiResourceUri(tool) })
  const frame = document.createElement('iframe')
  document.body.append(frame)
  // Its text could not be read from here without the same origin.
  frame.setAttribute('sandbox', 'allow-scripts allow-same-origin')
  const bridge = new AppBridge(client, { name: 'host', version: '1.0.0' }, { serverTools: {} })
  await bridge.connect(new PostMessageTransport(frame.contentWindow, frame.contentWindow))
  const ready = new Promise((resolve) => { bridge.addEventListener('initialized', resolve) })
  const posted = await fetch('/frame', { method: 'POST', body: page.text })
  frame.src = await posted.text()
  await ready
  const texts = []
  for (const args of calls) {
    const result = await client.callTool({ name: tool.name, arguments: args })
    if (result.isError) {
      texts.push('an error')
      continue
    }
    await bridge.sendToolInput({ arguments: args })
    await bridge.sendToolResult(result)
    await new Promise((resolve) => { setTimeout(resolve, 100) })
    texts.push(`${result.structuredContent.city}: ${frame.contentDocument.body.innerText.trim()}`)
  }
  await client.close()
  return { app: bridge.getAppVersion(), ui: page._meta?.ui, texts }
}
