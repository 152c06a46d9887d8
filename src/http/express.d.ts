/** What express-openapi-validator puts on a request. */
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
      /** Ours, also sent as X-Request-Id. */
      id: string;
      /** X-Request-Id as the client sent it. */
      client_id?: string | undefined;
      /** Bytes of a body that was read into memory, as it expands. */
      body_bytes?: number;
      openapi?: OpenApiMetadata;
    }
  }
}
