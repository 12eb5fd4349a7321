import { home, setUp } from "./wallet.ts";

await setUp();
console.log(`The wallet is in ${home}. .mcp.json tells an agent how to start its server.`);
