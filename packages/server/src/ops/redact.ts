// Takes out of texts what may be secret: addresses of nodes and databases hold keys and passwords, and a library's error
// may quote whatever it was given.
import { SottoError } from "@sotto/protocol";

const HIDDEN = "[redacted]";

/** In this order: what an earlier rule replaced, a later one leaves alone. */
const RULES: readonly (readonly [pattern: RegExp, replacement: string])[] = [
  // Scheme and host alone say which node or database it was.
  [/\b([a-z][a-z0-9+.-]*:\/\/)(?:[^\s/?#"'<>]*@)?([^\s/?#"'<>@]*)(?:[/?#][^\s"'<>]*)?/gi, "$1$2"],
  [/\b(bearer|basic)\s+[\w.~+/=-]{8,}/gi, `$1 ${HIDDEN}`],
  [/((?:key|token|secret|password|passwd|authorization)["']?\s*[=:]\s*)["']?[^\s"',;&]+/gi, `$1${HIDDEN}`],
  // A private key, a seed, a signature, a proof's coordinate.
  [/\b(?:0x)?[0-9a-f]{64,}\b/gi, HIDDEN],
  [/\b[0-9]{40,}\b/g, HIDDEN],
  // JWS.
  [/\b[\w-]{8,}\.[\w-]{8,}\.[\w-]{8,}/g, HIDDEN],
  // A node's key alone: long, letters and digits mixed. An account's address is not one.
  [/\b(?!0x[0-9a-f]{40}\b)(?=[\w-]*[0-9])(?=[\w-]*[a-z])[\w-]{28,}/gi, HIDDEN],
];

/** The text without addresses' paths, credentials, keys, tokens and proofs. */
export function redact(text: string): string {
  return RULES.reduce((shown, [pattern, replacement]) => shown.replace(pattern, replacement), text);
}

const FRAMES = 8;
/** As V8 writes them, of files: an error's message may hold lines that only look like one. */
const FRAME = /^\s+at ([\w$.<># [\]]* \()?((?:file:\/\/|node:|\/|[A-Z]:\\)[^()\s]*:\d+:\d+)\)?$/;
/** Deeper causes say nothing more; a cause may also be its own. */
const MAX_CAUSES = 5;

/** An error's name, code, place, and its own message if we wrote it. */
export function describeError(error: unknown, depth = 0): object {
  if (!(error instanceof Error)) return { name: typeof error };
  const { code, cause } = error as { code?: unknown; cause?: unknown };
  return {
    name: identifier(error.name) ?? "Error",
    ...(identifier(code) === undefined ? {} : { code }),
    ...(error instanceof SottoError ? { message: redact(error.message) } : {}),
    at: framesOf(error),
    ...(cause === undefined || depth === MAX_CAUSES ? {} : { cause: describeError(cause, depth + 1) }),
  };
}

/** Names and codes are words: anything else is somebody's text. */
function identifier(value: unknown): string | undefined {
  return typeof value === "string" && /^\w{1,64}$/.test(value) && redact(value) === value ? value : undefined;
}

/** Where it was thrown: functions, and files without the folders above the package. */
function framesOf({ stack = "", message }: Error): string[] {
  // A stack begins with the message, which may have lines that look like frames.
  const start = stack.indexOf(message);
  const lines = (start < 0 ? stack : stack.slice(start + message.length)).split("\n");
  const frames = lines.flatMap((line) => {
    const [, name = "", path = ""] = FRAME.exec(line) ?? [];
    return path === "" ? [] : [`${redact(name.replace(" (", " "))}${shortPath(path)}`];
  });
  return frames.slice(0, FRAMES);
}

/** Folders of a path that are shown. */
const SHOWN_FOLDERS = 3;

const shortPath = (path: string): string =>
  path
    .split(/[\\/]/)
    .slice(-SHOWN_FOLDERS - 1)
    .map(redact)
    .join("/");
