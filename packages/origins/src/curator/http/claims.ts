import { DATABASE_ERRORS } from "@sotto/database";
import { type ErrorTable, SottoError } from "@sotto/protocol";
import { type App, BODY_CODES, errorResponses, SERVER_ERRORS, ServerError } from "@sotto/server";
import { ENGINE_ERRORS } from "@sotto/verifier-service";
import type { FastifyRequest } from "fastify";
import { Type } from "typebox";
import { decodeClaim, type OriginClaim, PROOF_WORDS } from "../../core/claim.ts";
import { MAX_ENTRY_BYTES } from "../../core/log.ts";
import { CLAIMS_PATH, MAX_CLAIMS } from "../../core/publication.ts";
import { CURATOR_ERRORS } from "../error-definitions.ts";
import { CLAIM_RESULTS, type ClaimResult } from "../ops/metrics.ts";

export interface ClaimRoute {
  readonly claim: (claims: readonly OriginClaim[], client: string) => Promise<ClaimResult[]>;
  /** The id under which the client's proofs are queued. */
  readonly clientOf: (request: FastifyRequest) => string;
}

/** Every error of the curator's routes. */
export const CURATOR_ROUTE_ERRORS = {
  ...SERVER_ERRORS,
  ...CURATOR_ERRORS,
  STORE_UNAVAILABLE: DATABASE_ERRORS.STORE_UNAVAILABLE,
  ENGINE_OVERLOADED: ENGINE_ERRORS.ENGINE_OVERLOADED,
} satisfies ErrorTable;

const Word = Type.String({ pattern: "^(0|[1-9][0-9]{0,77})$", description: "decimal" });
const Claim = Type.Object(
  { nullifier: Word, maskRoot: Word, proof: Type.Array(Word, { minItems: PROOF_WORDS, maxItems: PROOF_WORDS }) },
  { additionalProperties: false },
);
const ClaimsBody = Type.Object(
  { claims: Type.Array(Claim, { minItems: 1, maxItems: MAX_CLAIMS }) },
  { additionalProperties: false },
);
const ClaimsResponse = Type.Object({
  results: Type.Array(Type.String(), {
    description: `one for each claim, in their order: ${CLAIM_RESULTS.map((result) => `\`${result}\``).join(", ")}`,
  }),
});

/** A claim whose values are field elements. */
function decode(wire: unknown, i: number): OriginClaim {
  try {
    return decodeClaim(wire);
  } catch (cause) {
    if (!(cause instanceof SottoError)) throw cause;
    throw new ServerError("INVALID_REQUEST", `claims[${i}]: ${cause.message}`, {}, { cause });
  }
}

export function claimRoute(app: App, { claim, clientOf }: ClaimRoute): void {
  app.post(
    `/${CLAIMS_PATH}`,
    {
      bodyLimit: MAX_CLAIMS * MAX_ENTRY_BYTES + 1_024,
      schema: {
        tags: ["origins"],
        summary: "Store proofs of origin",
        body: ClaimsBody,
        response: {
          200: ClaimsResponse,
          ...errorResponses(CURATOR_ROUTE_ERRORS, ...BODY_CODES, "STORE_UNAVAILABLE", "ENGINE_OVERLOADED"),
        },
      },
    },
    async (request, reply) => {
      const results = await claim(request.body.claims.map(decode), clientOf(request));
      reply.header("cache-control", "no-store");
      return { results };
    },
  );
}
