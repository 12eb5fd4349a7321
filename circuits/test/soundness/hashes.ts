import type { Attack } from "../kit/attack.ts";
import { commitment, DOMAIN, node, nullifier, ownerTag, poseidon, poseidonEx } from "../model/hash.ts";
import { on, swap } from "./define.ts";

/** The output is the hash plus one, and nobody knows an input with that hash. */
const plusOne = (find: string) => swap(find, `${find} + 1`);
const FOUR = [11n, 12n, 13n, 14n];

const hash = on("lib/hash.circom", "Hash(3, 7)", {
  inputs: () => ({ inputs: [1, 2, 3] }),
  harm: (read) => read("out") !== poseidon([1n, 2n, 3n], 7n),
});
const treeNode = on("lib/merkle.circom", "TreeNode()", {
  inputs: () => ({ children: [1, 2, 3, 4, 5, 6, 7, 8] }),
  harm: (read) => read("node") !== node([1n, 2n, 3n, 4n, 5n, 6n, 7n, 8n]),
});
const tag = on("lib/note.circom", "OwnerTag()", {
  inputs: () => ({ spendingKey: 5 }),
  harm: (read) => read("tag") !== ownerTag(5n),
});
const note = on("lib/note.circom", "NoteCommitment()", {
  inputs: () => ({ amount: 1000, ownerTag: 5, blinding: 6 }),
  harm: (read) => read("commitment") !== commitment(1000n, 5n, 6n),
});
const spent = on("lib/nullifier.circom", "Nullifier()", {
  inputs: () => ({ spendingKey: 5, commitment: 6, leafIndex: 7 }),
  harm: (read) => read("nullifier") !== nullifier(5n, 6n, 7n),
});
const secrets = on("lib/note_secrets.circom", "NoteSecrets()", {
  inputs: () => ({ sharedX: 5, ephemeralX: 6 }),
  harm: (read) => read("blinding") !== poseidonEx([5n, 6n], 2, DOMAIN.encryption)[0],
});
const sender = on("lib/recipient.circom", "SenderCommitment()", {
  inputs: () => ({ ownerTag: 5, nonce: 6 }),
  harm: (read) => read("commitment") !== poseidon([5n, 6n], DOMAIN.senderCommitment),
});
const recipient = on("lib/recipient.circom", "Recipient()", {
  inputs: () => ({ wallet: 11, keyX: 12, ownerTag: 13, senderCommitment: 14 }),
  harm: (read) => read("address") !== poseidon(FOUR, DOMAIN.recipient),
});

export const hashAttacks: readonly Attack[] = [
  hash("hash.permutation", "an output that is not the hash of the inputs", plusOne("out <-- state[0]")),
  treeNode(
    "merkle.permutation",
    "a node that is not the hash of its children",
    swap("<-- cut0.out;", "<-- [cut0.out[0] + 1];"),
  ),
  treeNode("merkle.feed_forward", "a node without the first child added", swap("state[0] + children[0]", "state[0]")),
  tag("note.owner_tag", "an owner tag that is not the key's", plusOne("tag <-- cut0.out")),
  note("note.commitment", "a commitment that is not the note's", plusOne("commitment <-- cut0.out")),
  spent("nullifier.hash", "a second nullifier for a note", plusOne("nullifier <-- cut0.out")),
  secrets("note_secrets.hash", "a blinding the recipient will not derive", plusOne("blinding <-- hash[0]")),
  sender("recipient.sender", "a commitment that is not to the sender", plusOne("commitment <-- cut0.out")),
  recipient("recipient.address", "an address that names another recipient", plusOne("address <-- cut0.out")),
];
