declare namespace Express {
  interface Request {
    /** Made here, also sent as X-Request-Id. */
    id: string;
    client_id?: string | undefined;
    /** The cookie of a request to the console's own mount of the API; null without one. */
    session?: { public_key: string; secret: string } | null;
    /** Bytes of a body that was read into memory, after decompression. */
    body_bytes?: number;
    /** A form as it came, after decompression: some carriers sign it. */
    form_text?: string;
    /** The media type of a body that was sent without one. */
    body_type?: string;
    /** The text of a JSON body with integers that a number cannot hold. */
    json_text?: string;
    /** A JSON body as it came, where the sender says that it has signed it. */
    signed_text?: string;
  }
}
