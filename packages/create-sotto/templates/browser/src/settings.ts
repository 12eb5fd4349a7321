// .env.example explains the settings.
const env: Readonly<Record<string, string | undefined>> = import.meta.env;

export const service = env["SOTTO_SERVICE"] ?? "http://127.0.0.1:4021/zk";
export const node = env["SOTTO_NODE"] ?? "http://127.0.0.1:4025";
export const faucet = env["SOTTO_FAUCET"] ?? "http://127.0.0.1:4024/drip";
export const url = env["SOTTO_URL"] ?? "http://127.0.0.1:4022/articles/1";
