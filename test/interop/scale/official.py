"""The official Python client against the address that it is told: every call good, or it ends with an error."""
import asyncio
import sys

from mcp import ClientSession, types
from mcp.client.streamable_http import streamable_http_client


async def elicited(_context, _params):
    return types.ElicitResult(action="accept", content={"name": "Python"})


async def main(url):
    async with streamable_http_client(url) as streams:
        async with ClientSession(*streams[:2], elicitation_callback=elicited) as session:
            await session.initialize()
            good = 0
            for turn in range(10):
                tools = await session.list_tools()
                doubled = await session.call_tool("double", {"a": turn})
                greeted = await session.call_tool("greet", {})
                heard = []

                async def progress(done, *_more):
                    heard.append(done)

                counted = await session.call_tool("count", {}, progress_callback=progress)
                assert any(tool.name == "double" for tool in tools.tools)
                assert doubled.content[0].text == str(2 * turn)
                assert greeted.content[0].text == "Hello Python"
                assert counted.content[0].text == "counted" and len(heard) == 3, heard
                good += 4
            print(good)


asyncio.run(main(sys.argv[1]))
