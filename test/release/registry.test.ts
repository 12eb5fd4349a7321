// The registry that `npm run release` starts.
import { createHash } from "node:crypto";
import { expect } from "chai";
import { packages, registry } from "./support/packages.ts";

describe("the registry", () => {
  let url: string;
  before(async () => {
    ({ url } = await registry());
  });

  const document = async (path: string) => {
    const response = await fetch(`${url}${path}`);
    return {
      status: response.status,
      headers: response.headers,
      body: (await response.json()) as Record<string, never>,
    };
  };

  it("serves a package's metadata under both spellings of its name", async () => {
    for (const path of ["/@sotto%2fclient", "/@sotto/client"]) {
      const { status, body } = await document(path);
      expect(status).to.equal(200);
      expect(body).to.include({ name: "@sotto/client" });
      expect(Object.keys(body["versions"]!)).to.deep.equal([body["dist-tags"]!["latest"]]);
    }
  });

  it("serves the tarballs that the documents name, with their integrity", async () => {
    for (const { name, version } of await packages()) {
      const { body } = await document(`/${name}`);
      const { dist } = body["versions"]![version] as { dist: { tarball: string; integrity: string } };
      const bytes = Buffer.from(await (await fetch(dist.tarball)).arrayBuffer());
      expect(`sha512-${createHash("sha512").update(bytes).digest("base64")}`).to.equal(dist.integrity);
    }
  });

  it("answers 304 if the client has the current document", async () => {
    const { headers } = await document("/@sotto/client");
    const again = await fetch(`${url}/@sotto/client`, { headers: { "if-none-match": headers.get("etag")! } });
    expect([again.status, await again.text()]).to.deep.equal([304, ""]);
  });

  for (const path of [
    "/express",
    "/@sotto/unknown",
    "/",
    "/%",
    "/@sotto/client/-/client-9.9.9.tgz",
    "/../package.json",
  ])
    it(`answers 404 for ${path}, and asks no other registry`, async () => {
      const { status, body } = await document(path);
      expect(status).to.equal(404);
      expect(body["error"]).to.match(/^this registry has only /);
    });

  for (const method of ["PUT", "POST", "DELETE"])
    it(`refuses ${method}`, async () => {
      const response = await fetch(`${url}/@sotto%2fclient`, { method });
      expect(response.status).to.equal(405);
    });
});
