// .env.example explains the settings.
import { existsSync } from "node:fs";

if (existsSync(".env")) process.loadEnvFile(".env");
const { env } = process;

export const service = env["SOTTO_SERVICE"] ?? "http://127.0.0.1:4021/zk";
export const node = env["SOTTO_NODE"] ?? "http://127.0.0.1:4025";
export const folder = env["DATA"] ?? "data";
