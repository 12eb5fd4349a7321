import { configuration, home, setUp } from "./wallet.ts";

await setUp();
console.error(`The wallet is in ${home}. Agents that start in this folder read .mcp.json.`);
console.error("For any other one, add this to its configuration:\n");
console.log(JSON.stringify(configuration(), undefined, 2));
