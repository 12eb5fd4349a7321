import type { Append } from "@sotto/chain";
import { NoteTree, type PermuteMany } from "@sotto/protocol";
import { createTreeKernel } from "@sotto/prover/scan";
import { decodeBase64, encodeBase64 } from "ethers";
import { WalletError } from "../errors.ts";
import type { Store } from "../store/store.ts";
import type { Ledger } from "./ledger.ts";

const KEY = "tree";
const LEAVES_PER_TURN = 1024;
/** Number of leaves from which on it is worth compiling the kernel. */
const KERNEL_MIN = 8_192;

/** The note tree after one append, computed locally: requesting a path from a server would reveal the note. */
export class TreeView {
  readonly #tree: NoteTree;
  /** Number of leaves of the stored tree. */
  #stored: number;
  /** Whether the tree was loaded from the store and not yet compared with the ledger. */
  #unread: boolean;
  /** Number of leaves hashed so far. */
  #hashed = 0;
  #kernel: "none" | "compiling" | "compiled" = "none";
  /** The kernel's permutation, once it is compiled, if this machine can run it. */
  #permute: PermuteMany | undefined;

  private constructor(tree: NoteTree) {
    this.#tree = tree;
    this.#stored = tree.size;
    this.#unread = true;
  }

  /** Loads the stored tree, because hashing 100,000 leaves takes seconds. A damaged tree is ignored. */
  static async open(store: Store): Promise<TreeView> {
    const record = await store.get(KEY);
    try {
      if (typeof record?.value === "string") return new TreeView(NoteTree.deserialize(decodeBase64(record.value)));
    } catch {
      // The ledger has all leaves, so only the time to hash them is lost.
    }
    return new TreeView(new NoteTree());
  }

  /**
   * The tree after `append`; undefined means the empty tree. The call is cheap if little has changed since the last
   * one. The result is valid until the next call.
   * @throws WalletError ROOT_MISMATCH if the node's leaves do not have the node's root
   */
  at(ledger: Ledger, append: Append | undefined): NoteTree {
    const tree = this.#tree;
    const size = append?.size ?? 0;
    tree.truncate(Math.min(this.#common(ledger), size));
    this.#append(ledger.leaves.slice(tree.size, size));
    if (append === undefined || tree.root === append.root) return tree;
    // Any leaf may be wrong, so the whole tree is discarded.
    tree.truncate(0);
    const problem = `the node's ${size} leaves do not have the root that it returned; try another node`;
    throw new WalletError("ROOT_MISMATCH", problem, { size });
  }

  /**
   * Hashes some of the ledger's leaves in advance, for a later call of `at`, in at most about 20 ms.
   * @returns whether there are more that it can hash now; the kernel does it faster, once it is compiled
   */
  advance(ledger: Ledger): boolean {
    if (this.#kernel === "compiling") return false;
    const tree = this.#tree;
    tree.truncate(Math.min(this.#common(ledger), ledger.appended));
    this.#append(ledger.leaves.slice(tree.size, Math.min(tree.size + LEAVES_PER_TURN, ledger.appended)));
    return tree.size < ledger.appended;
  }

  /** Stores the tree if enough leaves were added that writing is cheaper than hashing them again. */
  async keep(store: Store, least = 4096): Promise<void> {
    const { size } = this.#tree;
    if (size - this.#stored < Math.max(least, this.#stored / 8)) return;
    await store.put(KEY, encodeBase64(this.#tree.serialize()));
    this.#stored = size;
  }

  #append(leaves: readonly bigint[]): void {
    this.#hashed += leaves.length;
    if (this.#hashed >= KERNEL_MIN && this.#kernel === "none") void this.#compile();
    this.#tree.append(leaves, this.#permute);
  }

  async #compile(): Promise<void> {
    this.#kernel = "compiling";
    this.#permute = await createTreeKernel();
    this.#kernel = "compiled";
  }

  /** Number of leading leaves that the tree and the ledger share. */
  #common(ledger: Ledger): number {
    const untouched = ledger.takeUntouched();
    if (!this.#unread) return Math.min(this.#tree.size, untouched);
    this.#unread = false;
    const different = this.#tree.leaves().findIndex((leaf, i) => leaf !== ledger.leaves[i]);
    return different < 0 ? this.#tree.size : different;
  }
}
