// Removes possible secrets from texts: URLs of nodes and databases contain keys and passwords, and the errors of libraries
// quote their input.
import { SottoError } from "@sotto/protocol";

const HIDDEN = "[redacted]";

/** Applied in this order. No rule matches text that an earlier rule inserted. */
const RULES: readonly (readonly [pattern: RegExp, replacement: string])[] = [
  // A URL: its scheme and host are enough to identify the node or database.
  [/\b([a-z][a-z0-9+.-]*:\/\/)(?:[^\s/?#"'<>]*@)?([^\s/?#"'<>@]*)(?:[/?#][^\s"'<>]*)?/gi, "$1$2"],
  [/\b(bearer|basic)\s+[\w.~+/=-]{8,}/gi, `$1 ${HIDDEN}`],
  [/((?:key|token|secret|password|passwd|authorization)["']?\s*[=:]\s*)["']?[^\s"',;&]+/gi, `$1${HIDDEN}`],
  // A private key, a seed, a signature, a proof's coordinate.
  [/\b(?:0x)?[0-9a-f]{64,}\b/gi, HIDDEN],
  [/\b[0-9]{40,}\b/g, HIDDEN],
  // A JWS.
  [/\b[\w-]{8,}\.[\w-]{8,}\.[\w-]{8,}/g, HIDDEN],
  // An API key: long, letters and digits mixed. The address of an account is not secret.
  [/\b(?!0x[0-9a-f]{40}\b)(?=[\w-]*[0-9])(?=[\w-]*[a-z])[\w-]{28,}/gi, HIDDEN],
];

/** Removes paths of URLs, credentials, keys, tokens and proofs. */
export function redact(text: string): string {
  return RULES.reduce((shown, [pattern, replacement]) => shown.replace(pattern, replacement), text);
}

const FRAMES = 8;
/** A stack frame in a file, as V8 prints it. */
const FRAME = /^\s+at ([\w$.<># [\]]* \()?((?:file:\/\/|node:|\/|[A-Z]:\\)[^()\s]*:\d+:\d+)\)?$/;
/** Limited, because an error may be its own cause. */
const MAX_CAUSES = 5;

/** An error's name, code and stack frames, and its message if it is one of our own errors. */
export function describeError(error: unknown, depth = 0): object {
  if (!(error instanceof Error)) return { name: typeof error };
  const { code, cause } = error as { code?: unknown; cause?: unknown };
  return {
    name: identifier(error.name) ?? "Error",
    code: identifier(code),
    message: error instanceof SottoError ? redact(error.message) : undefined,
    at: framesOf(error),
    cause: cause === undefined || depth === MAX_CAUSES ? undefined : describeError(cause, depth + 1),
  };
}

/** Names and codes are single words. Anything else may be text from outside. */
function identifier(value: unknown): string | undefined {
  return typeof value === "string" && /^\w{1,64}$/.test(value) && redact(value) === value ? value : undefined;
}

/** The stack frames: functions, and files without the folders above the package. */
function framesOf({ stack = "", message }: Error): string[] {
  // A stack begins with the message, and the message may have lines that look like frames.
  const start = stack.indexOf(message);
  const lines = (start < 0 ? stack : stack.slice(start + message.length)).split("\n");
  const frames = lines.flatMap((line) => {
    const [, name = "", path = ""] = FRAME.exec(line) ?? [];
    return path === "" ? [] : [`${redact(name.replace(" (", " "))}${shortPath(path)}`];
  });
  return frames.slice(0, FRAMES);
}

/** Number of a path's folders that are shown. */
const SHOWN_FOLDERS = 3;

const shortPath = (path: string): string =>
  path
    .split(/[\\/]/)
    .slice(-SHOWN_FOLDERS - 1)
    .map(redact)
    .join("/");
