import type { Append } from "@sotto/chain";
import { NoteTree } from "@sotto/protocol";
import { decodeBase64, encodeBase64 } from "ethers";
import { WalletError } from "../errors.ts";
import type { Store } from "../store/store.ts";
import type { Ledger } from "./ledger.ts";

const KEY = "tree";

/** The note tree as it was after one append, made here: no server is asked for a path, so none learns which note. */
export class TreeView {
  readonly #tree: NoteTree;
  /** Leaves of the tree that is in the store. */
  #stored: number;
  /** Whether the tree came from the store and was not yet compared with the ledger. */
  #unread: boolean;

  private constructor(tree: NoteTree) {
    this.#tree = tree;
    this.#stored = tree.size;
    this.#unread = true;
  }

  /** Opens the tree the store keeps: hashing 100,000 leaves anew takes seconds. A damaged one is passed over. */
  static async open(store: Store): Promise<TreeView> {
    const record = await store.get(KEY);
    try {
      if (typeof record?.value === "string") return new TreeView(NoteTree.deserialize(decodeBase64(record.value)));
    } catch {
      // The ledger has all its leaves: nothing is lost but the time to hash them.
    }
    return new TreeView(new NoteTree());
  }

  /**
   * The tree after `append`, undefined for the tree before the first one. Cheap when little has changed since the last
   * call; valid until the next.
   * @throws WalletError ROOT_MISMATCH where the leaves the node gave do not make the root it gave
   */
  at(ledger: Ledger, append: Append | undefined): NoteTree {
    const tree = this.#tree;
    const size = append?.size ?? 0;
    tree.truncate(Math.min(this.#common(ledger), size));
    tree.append(ledger.leaves.slice(tree.size, size));
    if (append === undefined || tree.root === append.root) return tree;
    // The wrong leaf can be anywhere: nothing of this tree may be kept.
    tree.truncate(0);
    const problem = `the node's ${size} leaves do not make the root it gave: try another node`;
    throw new WalletError("ROOT_MISMATCH", problem, { size });
  }

  /** Keeps the tree where enough was added that writing it is worth more than hashing it again. */
  async keep(store: Store, least = 4096): Promise<void> {
    const { size } = this.#tree;
    if (size - this.#stored < Math.max(least, this.#stored / 8)) return;
    await store.put(KEY, encodeBase64(this.#tree.serialize()));
    this.#stored = size;
  }

  /** Leaves, from the first, that the tree and the ledger have in common. */
  #common(ledger: Ledger): number {
    const untouched = ledger.takeUntouched();
    if (!this.#unread) return Math.min(this.#tree.size, untouched);
    this.#unread = false;
    const different = this.#tree.leaves().findIndex((leaf, i) => leaf !== ledger.leaves[i]);
    return different < 0 ? this.#tree.size : different;
  }
}
