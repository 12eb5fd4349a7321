import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { Readable } from "node:stream";
import { type App, errorResponses } from "@sotto/server";
import type { FastifyReply, FastifyRequest } from "fastify";
import { Type } from "typebox";
import { ROUTE_ERRORS } from "../error-definitions.ts";
import { ServiceError } from "../errors.ts";
import { type ArtifactFile, type Catalog, type Circuit, type FileKind, isPresent } from "./catalog.ts";
import { acceptsBrotli, type CompressedFile } from "./compressed.ts";
import { matchesEtag, parseRange } from "./range.ts";

const DEFAULT_CIRCUIT = "payment";
/** A new version may have other files under the same names, but never under the same hash. */
const BY_NAME = "public, max-age=300";
const BY_HASH = "public, max-age=31536000, immutable";

const Name = Type.Object({ name: Type.String({ maxLength: 64, description: "circuit" }) });
const Hash = Type.Object({ sha256: Type.String({ maxLength: 128, description: "SHA-256 of the file, hex" }) });
const Binary = Type.Unsafe<unknown>({ type: "string", format: "binary" });
const FileResponses = {
  200: Binary,
  206: Binary,
  304: Type.Null(),
  ...errorResponses(ROUTE_ERRORS, "NOT_FOUND", "RANGE_NOT_SATISFIABLE"),
};

const FileDescription = Type.Object({
  url: Type.String({ description: "content-addressed path, relative to the base URL" }),
  sha256: Type.String(),
  size: Type.Integer({ description: "bytes" }),
});
const CircuitsResponse = Type.Object({
  artifactSet: Type.Object({ name: Type.String(), id: Type.String() }),
  proofSystem: Type.Literal("groth16"),
  curve: Type.Literal("bn128"),
  circuits: Type.Record(
    Type.String(),
    Type.Object({
      template: Type.String(),
      constraints: Type.Integer(),
      publicSignals: Type.Array(Type.Object({ name: Type.String(), offset: Type.Integer(), size: Type.Integer() })),
      files: Type.Record(Type.String(), FileDescription),
    }),
  ),
});

export function artifactRoutes(app: App, catalog: Catalog): void {
  const tags = ["artifacts"];
  const circuits = describeCircuits(catalog);
  // Not the set's id: it covers the keys only, and witness generators may change without them.
  const circuitsTag = `"${createHash("sha256").update(JSON.stringify(circuits)).digest("hex")}"`;
  app.get(
    "/circuits",
    {
      schema: {
        tags,
        summary: "All circuits: signals, files, hashes",
        response: { 200: CircuitsResponse, 304: Type.Null() },
      },
    },
    async (request, reply) => {
      reply.header("cache-control", BY_NAME).header("etag", circuitsTag);
      if (matchesEtag(request.headers["if-none-match"], circuitsTag)) return reply.code(304).send(null);
      return circuits;
    },
  );
  for (const [path, kind, what] of [
    ["/proving-key", "zkey", "proving key"],
    ["/verification-key", "vkey", "verification key"],
  ] as const) {
    const summary = `The ${what} of the payment circuit`;
    app.get(path, { schema: { tags, summary, response: FileResponses } }, (request, reply) =>
      sendFile(request, reply, fileOf(catalog, DEFAULT_CIRCUIT, kind), BY_NAME),
    );
    const params = { tags, summary: `The ${what} of a circuit`, params: Name, response: FileResponses };
    app.get(`${path}/:name`, { schema: params }, (request, reply) =>
      sendFile(request, reply, fileOf(catalog, request.params.name, kind), BY_NAME),
    );
  }
  const schema = { tags, summary: "Any file by its content hash", params: Hash, response: FileResponses };
  app.get("/artifacts/:sha256", { schema }, async (request, reply) => {
    const file = catalog.byHash.get(request.params.sha256);
    // A compact key is not needed: if it is gone, clients take the other form of the key.
    const isGone = file?.kind === "czkey" && !(await isPresent(file));
    if (file === undefined || isGone) throw new ServiceError("NOT_FOUND", "no artifact of this set has this hash");
    return sendFile(request, reply, file, BY_HASH);
  });
}

function fileOf(catalog: Catalog, name: string, kind: FileKind): ArtifactFile {
  const file = catalog.circuits.get(name)?.files[kind];
  if (file !== undefined) return file;
  throw new ServiceError("NOT_FOUND", `no such circuit; there are ${[...catalog.circuits.keys()].join(", ")}`);
}

function describeCircuits({ set, id, circuits }: Catalog) {
  const describe = ({ template, constraints, publicSignals, files }: Circuit) => ({
    template,
    constraints,
    publicSignals: publicSignals.map(({ name, offset, size }) => ({ name, offset, size })),
    files: Object.fromEntries(
      Object.values(files).map(({ kind, sha256, size }) => [kind, { url: `artifacts/${sha256}`, sha256, size }]),
    ),
  });
  return {
    artifactSet: { name: set, id },
    proofSystem: "groth16" as const,
    curve: "bn128" as const,
    circuits: Object.fromEntries([...circuits.values()].map((circuit) => [circuit.name, describe(circuit)])),
  };
}

/** Keeps caches from sending one client the encoding that another client accepts. */
function varyByEncoding(reply: FastifyReply): void {
  const known = reply.getHeader("vary");
  reply.header("vary", known === undefined ? "accept-encoding" : `${String(known)}, accept-encoding`);
}

function sendCompressed(
  request: FastifyRequest,
  reply: FastifyReply,
  file: ArtifactFile,
  { path, size }: CompressedFile,
  caching: string,
): FastifyReply {
  // The compressed bytes differ, so they have their own tag.
  const etag = `"${file.sha256}-br"`;
  reply.header("etag", etag).header("cache-control", caching);
  if (matchesEtag(request.headers["if-none-match"], etag)) return reply.code(304).send();
  reply.type(file.contentType).header("content-encoding", "br").header("content-length", size);
  return reply.send(request.method === "HEAD" ? Readable.from([]) : createReadStream(path));
}

async function sendFile(
  request: FastifyRequest,
  reply: FastifyReply,
  file: ArtifactFile,
  caching: string,
): Promise<FastifyReply> {
  if (file.compressed !== undefined) varyByEncoding(reply);
  // Ranges always refer to the uncompressed file, so that an uncompressed download can be resumed.
  const brotli = request.headers.range === undefined && acceptsBrotli(request.headers["accept-encoding"]);
  const compressed = brotli ? await file.compressed?.() : undefined;
  if (compressed !== undefined) return sendCompressed(request, reply, file, compressed, caching);
  const etag = `"${file.sha256}"`;
  reply.header("etag", etag).header("cache-control", caching).header("accept-ranges", "bytes");
  if (matchesEtag(request.headers["if-none-match"], etag)) return reply.code(304).send();
  // The client must not append a range of another version to the part that it has.
  const ifRange = request.headers["if-range"];
  const header = ifRange === undefined || ifRange === etag ? request.headers.range : undefined;
  const range = parseRange(header, file.size);
  if (range === "unsatisfiable") {
    reply.header("content-range", `bytes */${file.size}`).header("cache-control", "no-store").removeHeader("etag");
    throw new ServiceError("RANGE_NOT_SATISFIABLE", `the file has ${file.size} bytes`);
  }
  const { start, end } = range ?? { start: 0, end: file.size - 1 };
  if (range !== undefined) reply.code(206).header("content-range", `bytes ${start}-${end}/${file.size}`);
  reply.type(file.contentType).header("content-length", end - start + 1);
  // An empty stream, because Fastify would overwrite content-length for any other HEAD body.
  const body = request.method === "HEAD" ? Readable.from([]) : createReadStream(file.path, { start, end });
  return reply.send(body);
}
