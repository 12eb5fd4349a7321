// .env.example explains the settings.
import { existsSync } from "node:fs";

if (existsSync(".env")) process.loadEnvFile(".env");
const { env } = process;

export const port = Number(env["PORT"] ?? 3000);
export const host = env["HOST"] ?? "127.0.0.1";
export const origin = env["ORIGIN"] ?? `http://127.0.0.1:${port}`;
export const service = env["SOTTO_SERVICE"] ?? "http://127.0.0.1:4021/zk";
export const nodes = (env["SOTTO_NODES"] ?? "http://127.0.0.1:4025").split(",");
export const folder = env["DATA"] ?? "data";
/** As the settings have it; model.ts checks it. */
export const upstream = {
  url: env["UPSTREAM_URL"] ?? "",
  key: env["UPSTREAM_KEY"] ?? "",
  models: env["UPSTREAM_MODELS"] ?? "",
  limitField: env["UPSTREAM_LIMIT_FIELD"] ?? "max_tokens",
};
