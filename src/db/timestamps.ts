// The times of a record that a request writes: `user_updated_at` is when it was last changed
// through the API, `updated_at` also when the service itself changed it.

export const changedAt = (now: Date) => ({ user_updated_at: now, updated_at: now });
export const createdAt = (now: Date) => ({ ...changedAt(now), created_at: now });
export const deletedAt = (now: Date) => ({ ...changedAt(now), deleted_at: now });
