/** Set on a request by express-openapi-validator. */
export interface OpenApiMetadata {
  expressRoute: string;
  openApiRoute: string;
  pathParams: Record<string, string>;
  schema: object;
  serial: number;
}

declare global {
  namespace Express {
    interface Request {
      /** Made here, also sent as X-Request-Id. */
      id: string;
      client_id?: string | undefined;
      /** Bytes of a body that was read into memory, after decompression. */
      body_bytes?: number;
      openapi?: OpenApiMetadata;
    }
  }
}
