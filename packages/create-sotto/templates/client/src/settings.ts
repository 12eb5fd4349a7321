// .env.example explains the settings.
import { existsSync } from "node:fs";

if (existsSync(".env")) process.loadEnvFile(".env");
const { env } = process;

export const service = env["SOTTO_SERVICE"] ?? "http://127.0.0.1:4021/zk";
export const nodes = (env["SOTTO_NODES"] ?? "http://127.0.0.1:4025").split(",");
export const faucet = env["SOTTO_FAUCET"] ?? "http://127.0.0.1:4024/drip";
export const folder = env["DATA"] ?? "data";
