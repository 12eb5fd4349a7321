import type { DeliveredNote, ReceivedNote, Viewer } from "@sotto/protocol";

/** What a scan sends to a thread: notes to decrypt. */
export interface ThreadRequest {
  id: number;
  viewer: Viewer;
  notes: readonly DeliveredNote[];
}

/** The notes that are for the viewer, with their indices in the request; or the reason why it failed. */
export type ThreadReply = { id: number; found: [index: number, note: ReceivedNote][] } | { id: number; error: string };
