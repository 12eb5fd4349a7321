import { baseAddress, basePath, integer, list, network, oneOf, origin, text } from "./parse.ts";
import { type SettingValues, setting } from "./setting.ts";

/** What every server is told about itself. */
export const SERVER_SETTINGS = {
  host: setting("SOTTO_HOST", text, "127.0.0.1", "address to listen on"),
  port: setting("SOTTO_PORT", integer(0, 65535), "8402", "port to listen on, 0 for any free one"),
  basePath: setting("SOTTO_BASE_PATH", basePath, "/zk", "path of the interface; / for none"),
  publicUrl: setting(
    "SOTTO_PUBLIC_URL",
    baseAddress,
    undefined,
    "base address as clients see it: issuer of the tokens, and where to ask for a pending payment. Left out: urn:sotto:CHAIN:POOL, and a path",
  ),
  trustProxy: setting(
    "SOTTO_TRUST_PROXY",
    list(network),
    "",
    "addresses or networks of the proxies whose X-Forwarded-For is believed, comma-separated",
  ),
  corsOrigins: setting("SOTTO_CORS_ORIGINS", list(origin), "*", "origins of web pages that may call, or * for all"),
  logLevel: setting(
    "SOTTO_LOG_LEVEL",
    oneOf("fatal", "error", "warn", "info", "debug", "silent"),
    "info",
    "least level that is logged",
  ),
  rateLimit: setting("SOTTO_RATE_LIMIT", integer(1), "600", "requests a minute of one address, for each replica"),
  bodyLimit: setting("SOTTO_BODY_LIMIT", integer(4096, 1 << 20), "65536", "largest body in bytes"),
  latestLoopMs: setting(
    "SOTTO_LATEST_LOOP_MS",
    integer(0, 60_000),
    "2000",
    "how late the process may be, on average of a second, before it sends requests away as OVERLOADED; 0: it never does",
  ),
  shutdownMs: setting(
    "SOTTO_SHUTDOWN_MS",
    integer(100, 600_000),
    "15000",
    "most time for requests under way at the end",
  ),
} as const;

/** Those with a fallback are always there. */
export type ServerSettings = {
  readonly [K in Exclude<keyof typeof SERVER_SETTINGS, "publicUrl">]: NonNullable<
    SettingValues<typeof SERVER_SETTINGS>[K]
  >;
} & Pick<SettingValues<typeof SERVER_SETTINGS>, "publicUrl">;
