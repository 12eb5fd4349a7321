// Browsers report the same error if a server is down and if it does not allow this page to read its response.
import { ANONYMOUS } from "@sotto/protocol/base";
import { WebError } from "../errors.ts";

const PROBE_MS = 5_000;

/**
 * The error for a URL whose response the page did not get. A `no-cors` request, whose response is unreadable, shows
 * whether the server responds at all.
 */
export async function unreadable(url: URL, cause: unknown): Promise<InstanceType<typeof WebError>> {
  const { host } = url;
  // Only a network error is ambiguous. A timeout is not.
  const ambiguous = cause instanceof TypeError;
  const probe: RequestInit = { ...ANONYMOUS, method: "HEAD", mode: "no-cors", signal: AbortSignal.timeout(PROBE_MS) };
  const answers =
    ambiguous &&
    (await fetch(url, probe).then(
      () => true,
      () => false,
    ));
  return answers
    ? new WebError("PAGE_BLOCKED", `${host} answers, but does not allow web pages to read it`, { host }, { cause })
    : new WebError("PAGE_UNREACHABLE", `${host} does not answer`, { host }, { cause });
}
