import { basePath, integer, list, logLevels, network, origin, publicUrl, text } from "./parse.ts";
import { live, type SettingValues, setting } from "./setting.ts";
import { SETTINGS_FILE } from "./settings-file.ts";

/** Settings of every HTTP server. */
export const SERVER_SETTINGS = {
  settingsFile: setting(
    SETTINGS_FILE,
    text,
    undefined,
    "path of a file with settings, one NAME=VALUE a line; variables of the environment take precedence",
  ),
  host: setting("SOTTO_HOST", text, "127.0.0.1", "address to listen on"),
  port: setting("SOTTO_PORT", integer(0, 65535), "8402", "port to listen on; 0 for any free port"),
  basePath: setting("SOTTO_BASE_PATH", basePath, "/zk", "base path of the routes; / for no path"),
  publicUrl: setting(
    "SOTTO_PUBLIC_URL",
    publicUrl,
    undefined,
    "base URL that clients use; it becomes the issuer of tokens and the prefix of status URLs. Default: issuer urn:sotto:CHAIN:POOL and relative status URLs",
  ),
  trustProxy: setting(
    "SOTTO_TRUST_PROXY",
    list(network),
    "",
    "addresses or networks of trusted proxies, whose X-Forwarded-For names the client; comma-separated",
  ),
  corsOrigins: setting(
    "SOTTO_CORS_ORIGINS",
    list(origin),
    "*",
    "origins of web pages that may call the server, comma-separated; * for all",
  ),
  logLevel: live(
    setting(
      "SOTTO_LOG_LEVEL",
      logLevels,
      "info",
      "lowest level that is logged: fatal, error, warn, info, debug or silent; levels of parts follow, as in info,relayer=debug",
    ),
  ),
  rateLimit: live(
    setting(
      "SOTTO_RATE_LIMIT",
      integer(1),
      "600",
      "requests a minute from one network address; replicas of a service on PostgreSQL count together",
    ),
  ),
  bodyLimit: setting("SOTTO_BODY_LIMIT", integer(4096, 1 << 20), "65536", "maximum size of a request body, bytes"),
  latestLoopMs: setting(
    "SOTTO_LATEST_LOOP_MS",
    integer(0, 60_000),
    "2000",
    "maximum mean event-loop delay over a second before requests are refused with OVERLOADED; 0 disables the check",
  ),
  metricsHost: setting(
    "SOTTO_METRICS_HOST",
    text,
    "127.0.0.1",
    "address to listen on for /metrics, if SOTTO_METRICS_PORT is set",
  ),
  metricsPort: setting(
    "SOTTO_METRICS_PORT",
    integer(0, 65535),
    undefined,
    "port on which /metrics is served, and nothing else; 0 for any free port; default: /metrics is at the root of SOTTO_PORT",
  ),
  shutdownMs: setting(
    "SOTTO_SHUTDOWN_MS",
    integer(100, 600_000),
    "15000",
    "time that running requests have to finish when the server stops",
  ),
} as const;

type Optional = "settingsFile" | "publicUrl" | "metricsPort";

/** Settings with a default are always defined. */
export type ServerSettings = {
  readonly [K in Exclude<keyof typeof SERVER_SETTINGS, Optional>]: NonNullable<
    SettingValues<typeof SERVER_SETTINGS>[K]
  >;
} & Pick<SettingValues<typeof SERVER_SETTINGS>, Optional>;
