import { expectCode } from "@sotto/test-kit/rejection";
import { expect } from "chai";
import {
  deriveKeys,
  FIELD_MODULUS,
  NoteTree,
  noteCommitment,
  nullifier,
  type OriginArguments,
  prepareOrigin,
  preparePayment,
} from "../src/index.ts";
import { DEPLOYMENT } from "./support/deployment.ts";
import { maskTree } from "./support/mask-tree.ts";

const payer = deriveKeys(new Uint8Array(32).fill(1), DEPLOYMENT);
const merchant = deriveKeys(new Uint8Array(32).fill(2), DEPLOYMENT);

/** A note of the payer at this index. */
const noteAt = (leafIndex: number) => ({
  amount: 5_000n,
  blinding: 6n,
  spendingKey: payer.spendingKey(0),
  leafIndex,
});
const commitment = noteCommitment({ amount: 5_000n, blinding: 6n, ownerTag: payer.ownerTag(0) });

const place = 8 ** 5 + 3;
const shown: OriginArguments = { note: noteAt(place), ...maskTree({ [place]: commitment, 7: 8n }, place) };

describe("prepareOrigin", () => {
  it("states the mask root and the nullifier with which a payment spends the note", () => {
    const tree = new NoteTree([11n, commitment, 13n]);
    const note = noteAt(1);
    const { path, maskRoot } = maskTree({ 1: commitment }, 1);
    const origin = prepareOrigin({ note, path, maskRoot });
    const payment = preparePayment({
      ...DEPLOYMENT,
      tree,
      note,
      changeKey: payer.changeKey,
      nonceKey: payer.nonceKey,
      changeTag: payer.ownerTag(0),
      recipient: {
        encryptionKey: merchant.encryptionKey,
        ownerTag: merchant.ownerTag(0),
        wallet: "0x70997970c51812dc3a010c7d01b50e0d17dc79c8",
      },
      amount: 40n,
      resourceUrl: "https://data.example/",
      timestamp: 1_795_243_853_123,
    });
    expect(origin.publicSignals).to.deep.equal([maskRoot, payment.nullifier]);
    expect([origin.maskRoot, origin.nullifier]).to.deep.equal(origin.publicSignals);
    expect(maskRoot, "other leaves of the pool are 0").to.not.equal(tree.root);
  });

  it("takes the path of a tree in which the whole pool is in the set", () => {
    const tree = new NoteTree([11n, commitment, 13n]);
    const { nullifier: shownNullifier } = prepareOrigin({ note: noteAt(1), path: tree.path(1), maskRoot: tree.root });
    expect(shownNullifier).to.equal(nullifier(payer.spendingKey(0), commitment, 1));
  });

  it("refuses a note that the set does not have", () => {
    const without = maskTree({ 7: 8n }, place);
    const error = expectCode(
      "NOTE_NOT_IN_MASK",
      () => prepareOrigin({ ...shown, ...without }),
      /the curator's set does not contain the note/,
    );
    expect(error.details).to.deep.equal({ leafIndex: place });
    const changed = (change: object) => () => prepareOrigin({ ...shown, note: { ...shown.note, ...change } });
    for (const change of [{ amount: 5_001n }, { blinding: 7n }, { spendingKey: payer.spendingKey(1) }])
      expectCode("NOTE_NOT_IN_MASK", changed(change), /another note/);
  });

  it("refuses a path that leads elsewhere, on every level", () => {
    expect(prepareOrigin(shown).maskRoot).to.equal(shown.maskRoot);
    expectCode("INVALID_MASK_PATH", () => prepareOrigin({ ...shown, maskRoot: 1n }), /level 9 is not the mask root/);
    const { pathChildren } = shown.path;
    for (const [level, children] of pathChildren.entries()) {
      const position = Math.floor(place / 8 ** level) % 8;
      // A changed neighbour changes the parent; a changed node of the path is not the parent of the level below.
      const replaced = level === 0 ? (position + 1) % 8 : position;
      const path = { leafIndex: place, pathChildren: pathChildren.with(level, children.with(replaced, 9n)) };
      expectCode("INVALID_MASK_PATH", () => prepareOrigin({ ...shown, path }));
    }
  });

  it("refuses malformed arguments without repeating the key", () => {
    const refused = (change: object) => () => prepareOrigin({ ...shown, ...change });
    expectCode("INVALID_ARGUMENT", () => prepareOrigin(undefined as never));
    expectCode("INVALID_ARGUMENT", refused({ note: undefined }));
    expectCode("INVALID_ARGUMENT", refused({ path: undefined }));
    expectCode("INVALID_FIELD_ELEMENT", refused({ maskRoot: FIELD_MODULUS }), /maskRoot/);
    expectCode("INVALID_FIELD_ELEMENT", refused({ note: { ...shown.note, spendingKey: -1n } }), /spendingKey/);
    for (const leafIndex of [-1, 8 ** 10, 1.5])
      expectCode("INVALID_INTEGER", refused({ note: { ...shown.note, leafIndex } }), /leafIndex/);
    const { pathChildren } = shown.path;
    const paths = [
      { leafIndex: place + 1, pathChildren },
      { leafIndex: place, pathChildren: pathChildren.slice(1) },
      { leafIndex: place, pathChildren: pathChildren.with(3, [1n]) },
      { leafIndex: place, pathChildren: undefined },
    ];
    for (const path of paths) expectCode("INVALID_MASK_PATH", refused({ path }));
    const path = { leafIndex: place, pathChildren: pathChildren.with(2, new Array<bigint>(8).fill(FIELD_MODULUS)) };
    expectCode("INVALID_FIELD_ELEMENT", refused({ path }), /a node of the path/);
  });
});
