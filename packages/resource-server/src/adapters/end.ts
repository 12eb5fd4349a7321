// Reports to the paywall how responses end.
import type { Decision, ResponseEnd } from "../paywall/types.ts";

export type Paid = Extract<Decision, { kind: "paid" }>;

/** Reports that the client was gone before the handler started: the handler does not run, and the payment is released. */
export async function reportUnstarted({ finish, ended }: Paid): Promise<void> {
  await finish("unstarted");
  await ended?.("cut");
}

/**
 * Returns the function that reports the end of one response. Every adapter calls it with "complete" only after `finish`, and with
 * "cut" as soon as the connection is lost; its first call counts. Undefined if nothing depends on the end.
 */
export function createEndReport(ended: Paid["ended"]): ((end: ResponseEnd) => void) | undefined {
  if (ended === undefined) return undefined;
  let reported = false;
  return (end) => {
    if (reported) return;
    reported = true;
    void ended(end);
  };
}

/** A body that reports its end: "complete" once the server has read all of it, "cut" if it fails or the server cancels it. */
function watchedBody(body: ReadableStream<Uint8Array>, report: (end: ResponseEnd) => void): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const { done, value } = await reader.read();
          if (!done) return controller.enqueue(value);
          report("complete");
          controller.close();
        } catch (error) {
          report("cut");
          controller.error(error);
        }
      },
      cancel(reason) {
        report("cut");
        return reader.cancel(reason);
      },
    },
    // Nothing is read ahead, so the server's pace is the handler's.
    { highWaterMark: 0 },
  );
}

/**
 * The response with a body that reports its end. Servers do not send the body of a response to HEAD, and some do not cancel it.
 * @param method of the request
 */
export function withReportedEnd(response: Response, method: string, report: (end: ResponseEnd) => void): Response {
  const { body } = response;
  if (body === null || response.status < 200) {
    report("complete");
    return response;
  }
  if (method !== "HEAD") return new Response(watchedBody(body, report), response);
  report("complete");
  body.cancel().catch(() => undefined);
  return new Response(null, response);
}
