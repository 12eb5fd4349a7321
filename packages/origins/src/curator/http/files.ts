import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { type App, errorResponses, ROUTE_CODES, SERVER_ERRORS, ServerError } from "@sotto/server";
import type { FastifyReply, FastifyRequest } from "fastify";
import { Type } from "typebox";
import { HEAD_PATH } from "../../core/publication.ts";

/** A file that is named by its hash never changes. Packs grow, and the newest head is replaced. */
const BY_HASH = "public, max-age=31536000, immutable";
const BY_NAME = "public, no-cache";

const tags = ["origins"];
const Binary = Type.Unsafe<unknown>({ type: "string", format: "binary" });
const Json = Type.Unsafe<unknown>({ description: "JSON text" });

interface Kind {
  readonly folder: string;
  readonly summary: string;
  readonly pattern: RegExp;
  readonly type: string;
  readonly caching: string;
}

const KINDS: readonly Kind[] = [
  {
    folder: "heads",
    summary: "Signed heads, one a line",
    pattern: /^(0|[1-9]\d{0,9})\.jsonl$/,
    type: "application/jsonl",
    caching: BY_NAME,
  },
  {
    folder: "log",
    summary: "Entries of the log, one a line",
    pattern: /^(0|[1-9]\d{0,9})\.jsonl$/,
    type: "application/jsonl",
    caching: BY_NAME,
  },
  {
    folder: "manifests",
    summary: "The chunks of a head, by hash",
    pattern: /^[0-9a-f]{64}\.bin$/,
    type: "application/octet-stream",
    caching: BY_HASH,
  },
  {
    folder: "bitmaps",
    summary: "The bits of a chunk, by hash",
    pattern: /^[0-9a-f]{64}\.bin$/,
    type: "application/octet-stream",
    caching: BY_HASH,
  },
  {
    folder: "policies",
    summary: "What the curator accepts, by hash",
    pattern: /^[0-9a-f]{64}\.json$/,
    type: "application/json; charset=utf-8",
    caching: BY_HASH,
  },
];

/** Serves the published files, as any web server may. */
export function fileRoutes(app: App, folder: string): void {
  const errors = errorResponses(SERVER_ERRORS, "NOT_FOUND", ...ROUTE_CODES);
  app.get(
    `/${HEAD_PATH}`,
    { schema: { tags, summary: "The newest signed head", response: { 200: Json, 304: Type.Null(), ...errors } } },
    (request, reply) => send(request, reply, join(folder, HEAD_PATH), "application/json; charset=utf-8", BY_NAME),
  );
  for (const { folder: name, summary, pattern, type, caching } of KINDS)
    app.get(
      `/${name}/:file`,
      {
        schema: {
          tags,
          summary,
          params: Type.Object({ file: Type.String({ maxLength: 80 }) }),
          response: { 200: Binary, 304: Type.Null(), ...errors },
        },
      },
      (request, reply) => {
        const { file } = request.params;
        // The pattern allows no way out of the folder.
        if (!pattern.test(file)) throw notFound();
        return send(request, reply, join(folder, name, file), type, caching);
      },
    );
}

const notFound = () => new ServerError("NOT_FOUND", "no file has this name; head.json names the newest ones");

async function send(request: FastifyRequest, reply: FastifyReply, path: string, type: string, caching: string) {
  const bytes = await readFile(path).catch((error: NodeJS.ErrnoException) => {
    // Readers take a 404 for the curator's word: a disk that fails is another answer.
    if (error.code === "ENOENT") throw notFound();
    throw error;
  });
  const etag = `"${createHash("sha256").update(bytes).digest("hex")}"`;
  reply.header("etag", etag).header("cache-control", caching);
  const known = request.headers["if-none-match"];
  if (known?.split(",").some((tag) => tag.trim().replace(/^W\//, "") === etag)) return reply.code(304).send();
  return reply.type(type).send(bytes);
}
