// Acts as an agent: starts the MCP server and calls its tools.
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { home, programOf, setUp } from "./wallet.ts";

const [url = "http://127.0.0.1:4022/articles/1"] = process.argv.slice(2);

await setUp();
const client = new Client({ name: "agent", version: "0.1.0" });
await client.connect(new StdioClientTransport({ command: programOf("sotto-mcp"), args: ["--home", home] }));
try {
  for (const quote_only of [true, false]) {
    console.error(quote_only ? "Asking for the price" : "\nPaying");
    const { content } = await client.callTool({ name: "fetch_paid", arguments: { url, quote_only } });
    for (const part of content as { type: string; text?: string }[]) console.log(part.text ?? part.type);
  }
} finally {
  await client.close();
}
