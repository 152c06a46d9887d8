declare namespace Express {
  interface Request {
    /** Made here, also sent as X-Request-Id. */
    id: string;
    client_id?: string | undefined;
    /** Bytes of a body that was read into memory, after decompression. */
    body_bytes?: number;
  }
}
