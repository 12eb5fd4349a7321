import { NoteTree } from "@sotto/protocol";
import { WalletError } from "../errors.ts";
import type { Ledger } from "./ledger.ts";
import type { Append } from "./page.ts";

/** The note tree as it was after one append, made here: no server is asked for a path, so none learns which note. */
export class TreeView {
  readonly #tree = new NoteTree();

  /**
   * The tree after `append`, undefined for the tree before the first one. Cheap when little has changed since the last
   * call; valid until the next.
   * @throws WalletError ROOT_MISMATCH where the leaves the node gave do not make the root it gave
   */
  at(ledger: Ledger, append: Append | undefined): NoteTree {
    const tree = this.#tree;
    const size = append?.size ?? 0;
    tree.truncate(Math.min(tree.size, ledger.takeUntouched(), size));
    tree.append(ledger.leaves.slice(tree.size, size));
    if (append !== undefined && tree.root !== append.root) {
      // The wrong leaf can be anywhere: nothing of this tree may be kept.
      tree.truncate(0);
      throw new WalletError(
        "ROOT_MISMATCH",
        `the node's ${size} leaves do not make the root it gave: try another node`,
        {
          size,
        },
      );
    }
    return tree;
  }
}
