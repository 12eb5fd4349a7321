// Traces of payments as an extension of a service: off unless SOTTO_TRACES_URL is set.
import { parse, type ServiceExtension, setting } from "@sotto/server";

/** Several times what collectors ask for. */
const MAX_HEADERS_LENGTH = 8_192;
const HEADER = /^([!#$%&'*+\-.^_`|~0-9A-Za-z]+)=([\x21-\x7e]+(?: [\x21-\x7e]+)*)$/;

/** Headers of requests, NAME=VALUE, comma-separated as in OTEL_EXPORTER_OTLP_HEADERS. */
const headers = (text: string): Readonly<Record<string, string>> => {
  const items = text.split(",").map((item) => HEADER.exec(item.trim()));
  if (text.length > MAX_HEADERS_LENGTH || items.some((item) => item === null))
    return parse.wrong(`headers NAME=VALUE, comma-separated, of at most ${MAX_HEADERS_LENGTH} characters`);
  return Object.fromEntries(items.map((item) => [item![1]!.toLowerCase(), item![2]!]));
};

const SETTINGS = {
  tracesUrl: setting(
    "SOTTO_TRACES_URL",
    parse.httpUrl,
    undefined,
    "URL to which traces of payments are sent as OTLP over HTTP, such as http://127.0.0.1:4318/v1/traces; default: nothing is traced",
    true,
  ),
  tracesHeaders: setting(
    "SOTTO_TRACES_HEADERS",
    headers,
    undefined,
    "headers of the requests with traces, NAME=VALUE, comma-separated",
    true,
  ),
  tracesPerMinute: setting(
    "SOTTO_TRACES_PER_MINUTE",
    parse.integer(1, 100_000),
    "600",
    "maximum requests of accepted payments that are traced in a minute, and as many of all others; per replica",
  ),
} as const;

/** Traces from a request to the transaction and its confirmations. */
export const tracesExtension: ServiceExtension<typeof SETTINGS> = {
  name: "traces",
  settings: SETTINGS,
  problems: ({ tracesUrl, tracesHeaders }) =>
    tracesUrl === undefined && tracesHeaders !== undefined
      ? ["SOTTO_TRACES_HEADERS has no effect unless SOTTO_TRACES_URL is set"]
      : [],
  async open({ settings, log, metrics, clock }) {
    const { tracesUrl: url, tracesHeaders = {}, tracesPerMinute } = settings;
    if (url === undefined) return {};
    // Loaded only if it is used: it has more modules than the rest of the service.
    const { openTraces } = await import("./otlp.ts");
    return openTraces({ url, headers: tracesHeaders, perMinute: tracesPerMinute!, log, metrics, clock });
  },
};
