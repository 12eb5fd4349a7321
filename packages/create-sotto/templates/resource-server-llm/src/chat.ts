// POST /v1/chat/completions: one answer of the upstream, streamed or whole, charged by its tokens.
import { pipeline, Readable } from "node:stream";
import type { ReadableStream } from "node:stream/web";
import { meterOpenAiStream } from "@sotto/prepaid/server";
import type { Meter } from "@sotto/resource-server";
import express, { type ErrorRequestHandler, type Request, type RequestHandler, type Response, Router } from "express";
import { type Chat, ChatRefused, type Json, type Offered, readChat } from "./chat-request.ts";
import type { SignedPrice } from "./price.ts";
import { askUpstream, concealInEvents, concealKey, readAnswer, type Upstream } from "./upstream.ts";

export const CHAT_PATH = "/v1/chat/completions";
/** A prompt of this many bytes leaves enough of the cap for an answer (price.ts). */
const MAX_BODY_BYTES = 64 * 1024;
const RETRY_SECONDS = 5;

/** The routes of the proxy. @param paywall charges for chats @param priceNow what a chat costs */
export function chatRoutes(paywall: RequestHandler, upstream: Upstream & Offered, priceNow: () => SignedPrice): Router {
  const models = upstream.models.map((id) => ({ id, object: "model", created: 0, owned_by: "upstream" }));
  const router = Router();
  router.get("/v1/models", (_request, response) => void response.json({ object: "list", data: models }));
  router.post(
    CHAT_PATH,
    express.json({ limit: MAX_BODY_BYTES, type: () => true }),
    // Before the paywall: a request that cannot be answered costs nothing.
    (request, response, next) => {
      response.locals["chat"] = readChat(request.body, upstream, priceNow().rule);
      next();
    },
    paywall,
    (request, response) => answerChat(request, response, upstream),
  );
  router.use("/v1", sendError);
  return router;
}

async function answerChat({ payment }: Request, response: Response, upstream: Upstream): Promise<void> {
  const chat = response.locals["chat"] as Chat;
  const meter = payment?.meter;
  if (meter === undefined) throw new Error("the route has no metered price");
  const client = watchClient(response, meter, chat);
  const answer = await askUpstream(upstream, chat.body, client.gone);
  if (chat.stream) {
    const metered = meterOpenAiStream(answer.body!, { meter, input: chat.input, usage: chat.usage });
    client.answered();
    response.set({ "content-type": "text/event-stream", "cache-control": "no-store" });
    const events = metered.pipeThrough(concealInEvents(upstream.key));
    // If the client leaves, this cancels the upstream.
    pipeline(Readable.fromWeb(events as ReadableStream), response, () => undefined);
    return;
  }
  const { json, input, output } = await readAnswer(answer);
  client.answered();
  meter.add({ input, output });
  response
    .type("json")
    .set("cache-control", "no-store")
    .send(concealKey(JSON.stringify(json), upstream.key));
}

/** Stops the upstream if the client leaves, and then charges the prompt, on which the upstream has worked. */
function watchClient(response: Response, meter: Meter, { input }: Chat) {
  const leaving = new AbortController();
  let isAnswered = false;
  // Before the listener of the paywall, which ends the meter.
  response.prependOnceListener("close", () => {
    leaving.abort();
    if (isAnswered || response.headersSent) return;
    try {
      meter.add({ input });
    } catch {
      // The request ran longer than it may, so its charge is final.
    }
  });
  return {
    gone: leaving.signal,
    answered: () => {
      isAnswered = true;
    },
  };
}

/** Errors in OpenAI's form. */
const sendError: ErrorRequestHandler = (error: unknown, _request, response, _next) => {
  if (response.headersSent || response.destroyed) return void response.destroy();
  const { status, code, message } = refusalOf(error);
  if (status === 503) response.set("retry-after", String(RETRY_SECONDS));
  const type = status < 500 ? "invalid_request_error" : "server_error";
  response.status(status).json({ error: { message, type, param: null, code } } satisfies Json);
};

function refusalOf(error: unknown): ChatRefused {
  if (error instanceof ChatRefused) return error;
  // Errors of express.json.
  const { status, type } = Object(error) as { status?: unknown; type?: unknown };
  if (status === 413)
    return new ChatRefused(413, "request_too_large", `the body has more than ${MAX_BODY_BYTES} bytes`);
  if (typeof type === "string" && typeof status === "number" && status >= 400 && status < 500)
    return new ChatRefused(400, "invalid_request", "the body is not JSON in UTF-8");
  console.error(`a chat failed: ${error instanceof Error ? error.name : "unknown"}`);
  return new ChatRefused(500, "internal_error", "the server failed; nothing was charged");
}
