// Functions for the wallet of a folder that `sotto init` made, for other programs of the same user.
export { inTokens } from "./explain.ts";
export { amountFields, money } from "./format.ts";
export { nearest } from "./frame/nearest.ts";
export { type Attend, type Attended, attendTo } from "./home/attend.ts";
export { AGENT_TOOLS, type AgentTool, type Config, isAgentTool, readConfig, type WalletLimits } from "./home/config.ts";
export { readKeyFile } from "./home/files.ts";
export { Home } from "./home/home.ts";
export { type OpenHomeOptions, openHomeProver, openHomeWallet } from "./home/open.ts";
