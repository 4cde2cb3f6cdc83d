/* SPDX-License-Identifier: Apache-2.0 */
/* audit_planned.c: what audits of one machine begin with: a plan of their own. See audit_stage.h. */
#include "audit/audit_stage.h"

#include <stdlib.h>

#include "num/hand_over.h"

caucus_status caucus_audit_open_planned(const caucus_settings *settings, size_t bytes, void **ret_self,
                                        caucus_error *ret_error) {
    caucus_audit_planned *self = calloc(1, bytes);
    if (self == NULL)
        return CAUCUS_E_MEMORY;
    const caucus_status status = caucus_plan_new(settings, &self->plan, ret_error);
    return CAUCUS_HAND_OVER(status, ret_self, self, free(self));
}

void caucus_audit_close_planned(void *self) {
    caucus_audit_planned *planned = self;
    caucus_plan_free(planned->plan);
    free(planned);
}
