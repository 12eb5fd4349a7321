import { createHash } from "node:crypto";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { App } from "@sotto/server";
import { temporaryFolder } from "@sotto/test-kit/temporary-folder";
import { expect } from "chai";
import { fastify } from "fastify";
import type { ArtifactFile, Catalog } from "../../src/artifacts/catalog.ts";
import { artifactRoutes } from "../../src/artifacts/routes.ts";

describe("the route of a compact key", () => {
  const bytes = Buffer.from("a compact key");
  const path = join(temporaryFolder("compact-route"), "toy.czkey");
  const sha256 = createHash("sha256").update(bytes).digest("hex");
  const file = { circuit: "toy", kind: "czkey", path, sha256, size: bytes.length, contentType: "text/plain" };
  const catalog: Catalog = {
    ...{ set: "development", id: "", circuits: new Map(), verificationKeys: {} },
    byHash: new Map([[sha256, file as ArtifactFile]]),
  };

  it("answers that there is no such file once it is gone or another build has replaced it", async () => {
    const app = fastify();
    app.setErrorHandler((error, _, reply) => reply.code(404).send((error as { code?: unknown }).code));
    artifactRoutes(app as unknown as App, catalog);
    const get = async () => (await app.inject(`/artifacts/${sha256}`)).body;
    writeFileSync(path, bytes);
    expect(await get()).to.equal("a compact key");
    writeFileSync(path, bytes.subarray(1));
    expect(await get()).to.equal("NOT_FOUND");
    rmSync(path);
    expect(await get()).to.equal("NOT_FOUND");
    await app.close();
  });
});
