// x402 on the paths of the service's own interface: a body with `x402Version` is an x402 request.

import {
  X402_BAZAAR,
  X402_SCHEME,
  X402_SETTLEMENT_PENDING,
  X402_VERSION,
  X402Error,
  x402Network,
} from "@sotto/protocol/x402";
import { type App, type Tracing, traced } from "@sotto/server";
import type { FastifyReply, FastifyRequest } from "fastify";
import { callerOf, stepsOf, tellApplied } from "../operations/prefer.ts";
import type { ServiceMetrics } from "../ops/metrics.ts";
import type { ResponseContext } from "../payments/responses.ts";
import { isErrorResponse, x402Settled, x402SettleError, x402Verified, x402VerifyError } from "./responses.ts";
import { SupportedResponse, X402Body, type X402Request } from "./schemas.ts";
import { settleX402, verifyX402, type X402Services } from "./verify.ts";

export interface X402Routes extends X402Services {
  readonly metrics: Pick<ServiceMetrics, "verified" | "settled">;
  readonly answers: ResponseContext;
  readonly tracing: Tracing;
  readonly clientOf: (request: FastifyRequest) => string;
  /** Notes the resource of a settled payment, and returns x402's outcome. Undefined if discovery is off. */
  readonly discovery: { note(extensions: unknown, resource: string): Promise<object | undefined> } | undefined;
}

/** Answers x402 requests, before the body is checked against the service's own schema. */
type X402Handler = (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply | undefined>;

const isX402 = ({ body }: FastifyRequest): boolean =>
  typeof body === "object" && body !== null && Object.hasOwn(body, "x402Version");

const READ_AS_X402 =
  "the body was read as x402 because it has x402Version; omit that field to use the service's own interface";

/** @throws SottoError X402_VERSION_UNSUPPORTED, X402_REQUIREMENTS_INVALID, X402_PAYLOAD_INVALID */
function bodyOf(request: FastifyRequest): X402Request {
  // Older versions have other fields, so the version is checked before the fields.
  const { x402Version } = request.body as { x402Version: unknown };
  if (x402Version !== X402_VERSION)
    throw new X402Error("X402_VERSION_UNSUPPORTED", `x402Version must be the number ${X402_VERSION}; ${READ_AS_X402}`);
  const validate = request.getValidationFunction(X402Body) ?? request.compileValidationSchema(X402Body);
  if (validate(request.body)) return request.body as X402Request;
  const { instancePath = "", message = "is not valid" } = validate.errors?.[0] ?? {};
  const asked = instancePath.startsWith("/paymentRequirements") || message.includes("'paymentRequirements'");
  const code = asked ? "X402_REQUIREMENTS_INVALID" : "X402_PAYLOAD_INVALID";
  throw new X402Error(code, `body${instancePath.replaceAll("/", ".")} ${message}; ${READ_AS_X402}`);
}

function x402Handler(
  responseErrors: (answer: never) => object,
  answer: (request: FastifyRequest, reply: FastifyReply) => Promise<object>,
): X402Handler {
  return async (request, reply) => {
    if (!isX402(request)) return undefined;
    // From here on, all responses, including those of the error handler, have x402's fields.
    reply.serializer((value: unknown) =>
      JSON.stringify(isErrorResponse(value) ? responseErrors(value as never) : value),
    );
    reply.header("cache-control", "no-store").type("application/json; charset=utf-8");
    return reply.send(await answer(request, reply));
  };
}

const base64 = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64");

export function x402Handlers(services: X402Routes): { verify: X402Handler; settle: X402Handler } {
  const { metrics, answers, clientOf, config, tracing } = services;
  return {
    verify: x402Handler(x402VerifyError, async (request) => {
      const step = stepsOf(request, tracing)("verify");
      const result = await traced(
        step,
        async () => verifyX402(bodyOf(request), clientOf(request), services, step),
        (found) => ({ "sotto.result": "refused" in found ? found.refused.reason : "valid" }),
      );
      metrics.verified("refused" in result ? result.refused.reason : "valid");
      return x402Verified(result);
    }),
    settle: x402Handler(
      (answer) => x402SettleError(answer, config.chainId),
      async (request, reply) => {
        const body = bodyOf(request);
        const result = await settleX402(body, callerOf(request, reply, clientOf(request), tracing), services);
        const answer = x402Settled(result, config.chainId, answers);
        const pending = answer.errorReason === X402_SETTLEMENT_PENDING;
        metrics.settled(answer.success ? "success" : pending ? "pending" : "failed");
        if (answer.success && "resource" in result) {
          const extensions = (body.paymentPayload as Record<string, unknown>)["extensions"];
          const bazaar = await services.discovery?.note(extensions, result.resource);
          if (bazaar !== undefined) reply.header("extension-responses", base64({ [X402_BAZAAR]: bazaar }));
        }
        if (!pending) return answer;
        reply.code(202).header("retry-after", 2);
        tellApplied(request, reply);
        return answer;
      },
    ),
  };
}

/** x402's discovery endpoint. */
export function supportedRoute(
  app: App,
  services: Pick<X402Routes, "config" | "facts" | "setId" | "answers" | "discovery">,
): void {
  app.get(
    "/supported",
    {
      schema: {
        tags: ["payments"],
        summary: "x402 payment kinds that the service supports",
        response: { 200: SupportedResponse },
      },
    },
    async (_request, reply) => {
      const { config, facts, setId, answers, discovery } = services;
      const { pool, publicUrl: service } = config;
      const extra = { pool, asset: facts.token, decimals: facts.decimals, artifactSet: setId, service };
      const network = x402Network(BigInt(config.chainId));
      reply.header("cache-control", "public, max-age=60");
      return {
        kinds: [{ x402Version: X402_VERSION, scheme: X402_SCHEME, network, extra }],
        extensions: discovery === undefined ? [] : [X402_BAZAAR],
        signers: { "eip155:*": [...answers.relayers] },
      };
    },
  );
}
