// Curators, mirrors and networks that lie to a wallet which follows a set.
import { rejection } from "@sotto/test-kit/rejection";
import { slow } from "@sotto/test-kit/slow";
import type { Wallet } from "@sotto/wallet";
import { assert } from "chai";
import {
  bitmapPath,
  decodeHead,
  encodeHead,
  encodeManifest,
  HEAD_PATH,
  type HeadFacts,
  headPackPath,
  MaskTree,
  manifestPath,
  type OriginHead,
  type SignedHead,
  sha256Hex,
  signHead,
} from "../../src/index.ts";
import type { Origins, OriginsOptions, StoppedRecord } from "../../src/wallet.ts";
import type { MemoryCurator } from "../support/memory-curator.ts";
import { CURATOR, disk, MIRROR, Payers } from "../support/payer.ts";

const utf8 = new TextEncoder();

/** The code of the only problem of a sync; undefined if there is none. */
async function problemOf(origins: Origins): Promise<string | undefined> {
  const { problems } = await origins.sync();
  assert.isAtMost(problems.length, 1);
  return problems.length === 0 ? undefined : String(Object(problems[0]!.error).code);
}
const headOf = (origins: Origins) => origins.status()[0]!.head?.number;

/** A payer with notes in the set at head 0, which it has taken. */
async function start(notes = 4, options: OriginsOptions = {}, mirrors: readonly string[] = []) {
  const payers = new Payers();
  const store = disk();
  const wallet = await payers.funded(Array(notes).fill(5_000n), { store });
  const origins = await payers.follow(wallet, options, mirrors);
  if (mirrors.length > 0) payers.servers.set(MIRROR, payers.curator.fetch(MIRROR));
  await payers.curator.acceptNew();
  assert.equal(await problemOf(origins), undefined);
  assert.equal(headOf(origins), 0);
  payers.minute();
  return { payers, wallet, origins, store, curator: payers.curator };
}

/** Signs a head that the curator's rules would not make. */
const forge = (curator: MemoryCurator, changes: Partial<OriginHead>, from = curator.heads.at(-1)!): SignedHead =>
  signHead({ ...from.head, ...changes }, curator.secret);

/** Serves a head as the newest one, and in its pack in place of the one with its number. */
function serve(curator: MemoryCurator, signed: SignedHead): void {
  const heads = [...curator.heads.filter(({ head }) => head.number !== signed.head.number), signed];
  const lines = heads.map((head) => `${JSON.stringify(encodeHead(head))}\n`);
  curator.files.set(HEAD_PATH, utf8.encode(JSON.stringify(encodeHead(signed))));
  curator.files.set(headPackPath(0), utf8.encode(lines.join("")));
}

/** Publishes a head over files that do not follow from the set. */
function publishFalse(curator: MemoryCurator, root: bigint | undefined, bitmap: Uint8Array, facts: HeadFacts) {
  const tree = new MaskTree((leaf) => curator.leaves[leaf] ?? 1n);
  tree.replace(0, bitmap, root);
  const manifest = encodeManifest([{ bitmap, root: tree.chunkRoot(0) }]);
  const hash = sha256Hex(manifest);
  curator.files.set(manifestPath(hash), manifest);
  curator.files.set(bitmapPath(sha256Hex(bitmap)), bitmap);
  return forge(curator, { ...facts, maskRoot: tree.root, manifest: hash });
}

async function assertStopped(
  payers: Payers,
  wallet: Wallet,
  origins: Origins,
  code: StoppedRecord["code"],
  heads: number,
) {
  const { stopped, head } = origins.status()[0]!;
  assert.deepInclude(stopped, { code });
  assert.lengthOf(stopped!.heads, heads);
  // The evidence convicts: each head has the curator's signature.
  for (const wire of stopped!.heads) assert.equal(decodeHead(wire).head.curator, payers.curator.curator);
  assert.equal(head?.number ?? -1, head === undefined ? -1 : 0);
  assert.equal((await rejection(origins.prove(0, payers.set))).code, code);
  assert.equal(origins.canProve(wallet.notes()[0]!, payers.set), false);
  // For good: also after honest heads, after following again, and in the next process.
  const asked = payers.asked.length;
  assert.equal(await problemOf(origins), code);
  await origins.follow({ ...payers.set, url: CURATOR });
  assert.equal(await problemOf(origins), code);
  origins.close();
  const later = await payers.follow(wallet);
  assert.equal(await problemOf(later), code);
  assert.lengthOf(payers.asked, asked, "nothing more was asked");
}

describe("a curator that lies to a wallet", function () {
  slow(this, "signatures of many heads are checked");

  it("is stopped for good if it signs two heads of one number, and both are kept", async () => {
    const { payers, wallet, origins, curator } = await start();
    serve(curator, forge(curator, { policy: `0x${"aa".repeat(32)}` }));
    assert.equal(await problemOf(origins), "CURATOR_EQUIVOCATED");
    await assertStopped(payers, wallet, origins, "CURATOR_EQUIVOCATED", 2);
  });

  it("is stopped if it signs two heads of one time", async () => {
    const { payers, wallet, origins, curator } = await start();
    const { number, time } = curator.heads[0]!.head;
    serve(curator, forge(curator, { number: number + 1, previous: `0x${"aa".repeat(32)}`, time }));
    assert.equal(await problemOf(origins), "CURATOR_EQUIVOCATED");
    await assertStopped(payers, wallet, origins, "CURATOR_EQUIVOCATED", 2);
  });

  it("is stopped if it changes a head that the wallet saw and did not take yet", async () => {
    const { payers, wallet, origins, curator } = await start();
    const { head } = await curator.sign();
    curator.files.delete(manifestPath(head.manifest));
    serve(curator, forge(curator, { manifest: `0x${"aa".repeat(32)}` }));
    assert.equal(await problemOf(origins), "CURATOR_UNREACHABLE");
    serve(curator, curator.heads[1]!);
    assert.equal(await problemOf(origins), "CURATOR_EQUIVOCATED");
    await assertStopped(payers, wallet, origins, "CURATOR_EQUIVOCATED", 2);
  });

  it("is stopped if its packs have another head than the one that the wallet took", async () => {
    const { payers, wallet, origins, curator } = await start();
    const other = forge(curator, { policy: `0x${"aa".repeat(32)}` });
    curator.heads[0] = other;
    payers.minute();
    await curator.sign();
    assert.equal(await problemOf(origins), "CURATOR_EQUIVOCATED");
    await assertStopped(payers, wallet, origins, "CURATOR_EQUIVOCATED", 2);
  });

  for (const [what, changes] of Object.entries<Partial<OriginHead>>({
    "another set": { name: "other" },
    "another pool": { pool: `0x${"12".repeat(20)}` },
    "another chain": { chainId: 1 },
  }))
    it(`is not believed with a head of ${what}`, async () => {
      const { origins, curator } = await start();
      await curator.sign();
      serve(curator, forge(curator, changes));
      assert.equal(await problemOf(origins), "CURATOR_HEAD_INVALID");
      assert.equal(headOf(origins), 0);
      serve(curator, curator.heads[1]!);
      assert.equal(await problemOf(origins), undefined, "the control");
      assert.equal(headOf(origins), 1);
    });

  it("is not believed with a head of another key, or without a valid signature", async () => {
    const { origins, curator, payers } = await start();
    const other = payers.createCurator();
    await other.acceptNew();
    payers.minute();
    await other.sign();
    const honest = await curator.sign();
    for (const text of [
      JSON.stringify(encodeHead(other.heads[1]!)),
      JSON.stringify({ ...encodeHead(other.heads[1]!), curator: curator.curator }),
      JSON.stringify({ ...encodeHead(honest), signature: encodeHead(other.heads[1]!)["signature"] }),
      JSON.stringify({ ...encodeHead(honest), claims: 7 }),
      "",
      "null",
      "[]",
      "{",
    ]) {
      curator.files.set(HEAD_PATH, utf8.encode(text));
      assert.equal(await problemOf(origins), "CURATOR_HEAD_INVALID", text);
    }
    assert.equal(headOf(origins), 0);
  });

  it("is not believed with a head that does not follow the last one", async () => {
    const { origins, curator, payers } = await start();
    payers.minute();
    payers.minute();
    for (let i = 0; i < 2; i += 1) await curator.sign();
    const wrong = forge(curator, { previous: `0x${"aa".repeat(32)}` });
    serve(curator, wrong);
    assert.equal(await problemOf(origins), "CURATOR_HEAD_INVALID");
    // A gap in the pack.
    serve(curator, curator.heads[2]!);
    const lines = new TextDecoder().decode(curator.files.get(headPackPath(0))).split("\n");
    curator.files.set(headPackPath(0), utf8.encode([lines[0], lines[2]].join("\n")));
    assert.equal(await problemOf(origins), "CURATOR_HEAD_INVALID");
    assert.equal(headOf(origins), 0);
  });

  it("follows heads over several packs", async () => {
    const { origins, curator, payers } = await start();
    for (let i = 0; i < 140; i += 1) {
      payers.minute();
      await curator.sign();
    }
    assert.equal(await problemOf(origins), undefined);
    assert.equal(headOf(origins), 140);
  });

  it("cannot bring the wallet back to a lower number", async () => {
    const { origins, curator } = await start();
    const old = new Map(curator.files);
    await curator.sign();
    assert.equal(await problemOf(origins), undefined);
    for (const [path, file] of old) curator.files.set(path, file);
    assert.equal(await problemOf(origins), "CURATOR_WENT_BACK");
    assert.equal(headOf(origins), 1);
  });

  it("is not believed with a head of an orphaned block, of the future, or of another size of the tree", async () => {
    const { origins, curator, payers } = await start();
    await curator.sign();
    serve(curator, forge(curator, { blockHash: `0x${"aa".repeat(32)}` }));
    assert.equal(await problemOf(origins), "ORIGIN_BLOCK_UNKNOWN");
    const { number, time } = curator.heads[1]!.head;
    for (const changes of [{ leaves: 3 }, { time: time + 86_400 }, { blockTime: time + 1 }]) {
      const fresh = await start();
      await fresh.curator.sign();
      serve(fresh.curator, forge(fresh.curator, changes));
      assert.equal(await problemOf(fresh.origins), "CURATOR_HEAD_INVALID");
      assert.equal(headOf(fresh.origins), 0);
    }
    assert.equal(number, 1);
    assert.equal(headOf(origins), 0);
    assert.equal(payers.curator.heads.length, 2);
  });

  it("is waited for while the wallet has not confirmed the head's block", async () => {
    const payers = new Payers();
    const wallet = await payers.funded([5_000n], { finality: 3 });
    const origins = await payers.follow(wallet);
    await payers.curator.acceptNew();
    assert.equal(await problemOf(origins), undefined);
    assert.equal(headOf(origins), undefined);
    for (let i = 0; i < 3; i += 1) payers.minute();
    assert.equal(await problemOf(origins), undefined);
    assert.equal(headOf(origins), 0);
  });

  it("cannot hide a chunk or the manifest, nor send others", async () => {
    const { origins, curator, payers } = await start();
    await payers.funded([7_000n]);
    payers.minute();
    const { head } = await curator.acceptNew();
    const bitmap = [...curator.files.keys()].findLast((path) => path.startsWith("bitmaps/"))!;
    for (const path of [manifestPath(head.manifest), bitmap]) {
      const file = curator.files.get(path)!;
      curator.files.delete(path);
      assert.equal(await problemOf(origins), "CURATOR_UNREACHABLE");
      curator.files.set(
        path,
        file.map((byte) => byte ^ 1),
      );
      assert.equal(await problemOf(origins), "CURATOR_FILE_WRONG");
      curator.files.set(path, file.slice(1));
      assert.equal(await problemOf(origins), "CURATOR_FILE_WRONG");
      // A bomb.
      curator.files.set(path, new Uint8Array(1 << 20));
      assert.equal(await problemOf(origins), "CURATOR_UNREACHABLE");
      curator.files.set(path, file);
    }
    assert.equal(headOf(origins), 0);
    assert.equal(await problemOf(origins), undefined);
    assert.equal(headOf(origins), 1);
  });

  it("is stopped if the root of a chunk with an own note is false", async () => {
    const { payers, wallet, origins, curator } = await start();
    await payers.funded([7_000n]);
    payers.minute();
    await curator.read();
    await curator.sign();
    // The bitmap has a bit more than the root: no note of the chunk could ever be proved.
    const bitmap = curator.state.mask.chunks(5)[0]!.bitmap;
    const root = curator.state.mask.chunkRoot(0);
    bitmap[0]! |= 1 << 4;
    serve(curator, publishFalse(curator, root, bitmap, curator.heads[1]!.head));
    assert.equal(await problemOf(origins), "CURATOR_MASK_FALSE");
    await assertStopped(payers, wallet, origins, "CURATOR_MASK_FALSE", 1);
  });

  it("is stopped if the manifest does not lead to the signed root, or a bitmap has leaves that do not exist", async () => {
    for (const kind of ["manifest", "bitmap"]) {
      const { payers, wallet, origins, curator } = await start();
      await curator.sign();
      const bitmap = curator.state.mask.chunks(4)[0]!.bitmap;
      if (kind === "bitmap") bitmap[100] = 1;
      const signed = publishFalse(curator, undefined, bitmap, curator.heads[1]!.head);
      serve(curator, kind === "bitmap" ? signed : forge(curator, { maskRoot: 7n }, signed));
      assert.equal(await problemOf(origins), "CURATOR_MASK_FALSE", kind);
      await assertStopped(payers, wallet, origins, "CURATOR_MASK_FALSE", 1);
    }
  });

  it("cannot halve the set again and again: the wallet asks its owner, and shows one root at most", async () => {
    const { payers, origins, curator } = await start(8);
    const shown = await origins.prove(0, payers.set);
    curator.refuse(4);
    await curator.sign();
    assert.equal(await problemOf(origins), undefined, "one leaf");
    payers.minute();
    curator.refuse(5);
    await curator.sign();
    // Together with the first.
    assert.equal(await problemOf(origins), "ORIGIN_REMOVAL_LARGE");
    assert.equal(headOf(origins), 1);
    assert.equal(origins.status()[0]!.removal, 2);
    payers.minute();
    curator.refuse(1, 6);
    await curator.sign();
    assert.equal(await problemOf(origins), "ORIGIN_REMOVAL_LARGE");
    assert.equal(origins.status()[0]!.removal, 4);
    await origins.follow({ ...payers.set, url: CURATOR }, { acceptRemoval: true });
    assert.equal(await problemOf(origins), undefined);
    assert.equal(headOf(origins), 3);
    // The consent was for these leaves.
    payers.minute();
    curator.refuse(2, 3);
    await curator.sign();
    assert.equal(await problemOf(origins), "ORIGIN_REMOVAL_LARGE");
    assert.deepEqual(await origins.prove(0, payers.set), shown);
  });

  it("may remove as many leaves as the owner configured", async () => {
    const { origins, curator } = await start(8, { removals: { leaves: 4, share: 1 } });
    curator.refuse(1, 2, 3, 4);
    await curator.sign();
    assert.equal(await problemOf(origins), undefined);
  });

  it("answers late, with redirects or without end, and the wallet keeps its head", async () => {
    const { origins, payers, curator } = await start();
    const good = payers.servers.get(CURATOR)!;
    const answers: (typeof fetch)[] = [
      async () => new Response(null, { status: 302, headers: { location: "https://elsewhere.example" } }),
      async () => new Response("no", { status: 500 }),
      async () =>
        new Response(new ReadableStream({ pull: (controller) => controller.enqueue(new Uint8Array(65_536)) })),
    ];
    for (const answer of answers) {
      payers.servers.set(CURATOR, answer);
      assert.equal(await problemOf(origins), "CURATOR_UNREACHABLE");
    }
    const leaving = new AbortController();
    payers.servers.set(CURATOR, (_, init) => {
      setTimeout(() => leaving.abort(new Error("no patience")), 5);
      return new Promise((_resolve, reject) => {
        init?.signal?.addEventListener("abort", () => reject(new Error("aborted")));
      });
    });
    const error = await origins.sync({ signal: leaving.signal }).catch((reason: Error) => reason);
    assert.equal((error as Error).message, "no patience");
    payers.servers.set(CURATOR, good);
    await curator.sign();
    assert.equal(await problemOf(origins), undefined);
    assert.equal(headOf(origins), 1);
  });
});

describe("the mirrors of a set's heads", function () {
  slow(this, "signatures of many heads are checked");

  it("must show the same head, or the curator is stopped", async () => {
    const { payers, wallet, origins, curator } = await start(4, {}, [MIRROR]);
    await curator.sign();
    const other = forge(curator, { policy: `0x${"aa".repeat(32)}` });
    const twin = payers.createCurator({ secret: curator.secret });
    for (const head of [curator.heads[0]!, other]) twin.publish(head);
    payers.servers.set(MIRROR, twin.fetch(MIRROR));
    assert.equal(await problemOf(origins), "CURATOR_EQUIVOCATED");
    await assertStopped(payers, wallet, origins, "CURATOR_EQUIVOCATED", 2);
  });

  it("hold back heads that they do not have yet", async () => {
    const { payers, origins, curator } = await start(4, {}, [MIRROR]);
    const behind = payers.createCurator({ secret: curator.secret });
    behind.publish(curator.heads[0]!);
    payers.servers.set(MIRROR, behind.fetch(MIRROR));
    for (let i = 0; i < 3; i += 1) {
      payers.minute();
      await curator.sign();
    }
    assert.equal(await problemOf(origins), undefined);
    assert.equal(headOf(origins), 0);
    behind.publish(curator.heads[1]!);
    behind.publish(curator.heads[2]!);
    assert.equal(await problemOf(origins), undefined);
    assert.equal(headOf(origins), 2);
  });

  it("delay heads while they fail, and convict nobody by heads that the curator did not sign", async () => {
    const { payers, origins, curator } = await start(4, {}, [MIRROR]);
    await curator.sign();
    const stranger = payers.createCurator();
    stranger.publish(
      signHead({ ...curator.heads[0]!.head, curator: stranger.curator as `0x${string}` }, stranger.secret),
    );
    const answers: (typeof fetch)[] = [
      stranger.fetch(MIRROR),
      async () => new Response("no", { status: 500 }),
      async () => {
        throw new TypeError("no route");
      },
    ];
    for (const answer of answers) {
      payers.servers.set(MIRROR, answer);
      assert.equal(await problemOf(origins), "ORIGIN_MIRROR_FAILED");
      assert.equal(headOf(origins), 0);
    }
    payers.servers.set(MIRROR, curator.fetch(MIRROR));
    assert.equal(await problemOf(origins), undefined);
    assert.equal(headOf(origins), 1);
  });
});
