// Errors that are shown to the user. Any other error is a defect of the viewer.

/** Data that cannot be read: which file, and what is wrong with it. */
export class DataError extends Error {
  override name = "DataError";
}

/** A request that was not answered: the server is gone, or it refused. */
export class SourceError extends Error {
  override name = "SourceError";
}

/** Text of any thrown value. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
